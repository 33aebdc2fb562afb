"""Benchmarks: each prints ratios or counts, and README.md keeps the measured ones."""
