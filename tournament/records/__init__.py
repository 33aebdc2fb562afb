"""Data without behaviour: settings, games, results."""
