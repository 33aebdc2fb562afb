"""The steps of the check, one function each."""
