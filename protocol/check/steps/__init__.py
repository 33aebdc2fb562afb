"""The steps of the check, one module for each group."""
