"""Elo, sequential tests and ratings: pure functions of counts."""
