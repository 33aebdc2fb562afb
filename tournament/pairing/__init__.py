"""Who meets whom, and from which opening."""
