"""The game and the player: rules, positions, text forms, search and tables."""

__version__ = "0.1.0"
