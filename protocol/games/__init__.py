"""Games that are played and looked at: trees of moves, clocks, and those that are kept."""
