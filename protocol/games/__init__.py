"""Game records as trees of moves, games that are played or edited on them, and clocks."""
