"""Finished games on disk, and what is read back from them."""
