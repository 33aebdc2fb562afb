"""Openings: read from files and books, and the generator of books."""
