"""The steps of the check, by subject."""
