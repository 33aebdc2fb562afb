"""Seeded fuzzing of everything that reads untrusted input; see ``python -m tests.fuzz -h``."""
