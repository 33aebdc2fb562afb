"""Tablebases of perfect play: building, verifying, packing and probing them."""
