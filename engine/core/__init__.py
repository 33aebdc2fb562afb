"""The compiled core: bitboards, move generation, evaluation, search and tables in one extension."""
