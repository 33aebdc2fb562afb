"""Game records in PGN: splitting a file into games, reading and writing them."""
