"""The compiled core: bitboards, move generation, evaluation, search, tables: one extension."""
