"""Puzzles: positions in which tables prove that one move wins or holds the draw."""
