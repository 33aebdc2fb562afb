"""A plan carried out by workers."""
