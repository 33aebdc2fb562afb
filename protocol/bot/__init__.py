"""Moves for programs that send a position as a line of JSON."""
