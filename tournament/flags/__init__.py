"""Command lines of tournaments, tunes and leagues: parsing, checks and help."""
