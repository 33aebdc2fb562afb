"""Measures of the engine: the benchmark, test suites, samples of positions."""
