"""Finished games on disk: journals, and readers of journals and PGN files."""
