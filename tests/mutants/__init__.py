"""Random mutants of the sources, and the tests that notice; see ``python -m tests.mutants -h``."""
