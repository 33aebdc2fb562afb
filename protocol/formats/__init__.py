"""Text formats of games, positions and rule sets: detection, readers and writers."""
