"""Game records as trees of moves, games that edit them, and clocks."""
