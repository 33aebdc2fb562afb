"""Tables of perfect play for the moving phase: building, checking and reading them."""
