"""The compiled core: bitboards, move generation, evaluation and search, one extension."""
