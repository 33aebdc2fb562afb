"""One game between two engines."""
