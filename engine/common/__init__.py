"""Helpers for every package: errors, numbers, folders, saving files and command lines."""
