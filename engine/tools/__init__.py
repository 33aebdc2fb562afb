"""Tools for engine developers: benchmark, perft, test suites, positions as text."""
