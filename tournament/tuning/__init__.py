"""Tuning an engine's numbers by game pairs that it plays against itself (SPSA)."""
