"""Leagues: rating lists in a folder, the choice of their next games, and their sites."""
