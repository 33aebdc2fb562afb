"""Solvers of sectors and slices in memory, driven by a build."""
