"""Random mutants of the sources, and the tests that fail; see ``python -m tests.mutants -h``."""
