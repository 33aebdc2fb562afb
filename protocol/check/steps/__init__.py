"""The steps of the conformance checker, a module for each group."""
