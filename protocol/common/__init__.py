"""Options, as the engine's side and the client's side of the protocol use them."""
