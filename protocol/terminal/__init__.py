"""What a person at a terminal has before them: a game, a running search, progress."""
