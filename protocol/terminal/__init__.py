"""For a person at a terminal: a game, a running search, progress."""
