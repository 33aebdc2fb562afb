"""The engine's side of the protocol."""
