"""Solving: what a build works out in memory before it is written."""
