"""Game records in PGN: the games of a file, and the tokens of a game."""
