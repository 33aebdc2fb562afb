"""Reviews of recorded games: the loss of each move, and blunders."""
