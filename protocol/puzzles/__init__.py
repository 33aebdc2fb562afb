"""Puzzles: positions with one move that wins or holds the draw, proven by tables."""
