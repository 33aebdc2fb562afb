"""Command lines of tournaments and tunes: parsing, checks and help."""
