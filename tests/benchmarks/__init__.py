"""Benchmarks: each prints ratios or counts; README.md and engine/strength.md keep the results."""
