"""Seeded fuzzing of all that reads what others wrote; see ``python -m tests.fuzz -h``."""
