"""Errors, numbers, folders, files and command lines: for every package."""
