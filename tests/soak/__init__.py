"""Soak tests: tournaments with misbehaving engines and killed runners, checked when they end."""
