"""The player: a search with its threads, limits and clock."""
