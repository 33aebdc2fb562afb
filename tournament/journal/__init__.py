"""Finished games on disk: journals, and reading them and PGN files."""
