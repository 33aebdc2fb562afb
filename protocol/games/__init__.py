"""Games that are played and looked at: trees of moves, and clocks."""
