"""Programs that want a move for a line of text."""
