"""Helpers for every package: errors, numbers, folders, files and command lines."""
