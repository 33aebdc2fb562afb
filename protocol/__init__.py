"""The text protocol: the engine's side of it and the client's."""
