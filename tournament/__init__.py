"""Engines playing each other: schedules, games, journals and the statistics of their results."""
