"""The engine's side of the protocol: the loop, its commands and options."""
