"""The cost of each move of a recorded game."""
