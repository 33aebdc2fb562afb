"""The compiled core: bitboards, move generation, evaluation and search, in one extension."""
