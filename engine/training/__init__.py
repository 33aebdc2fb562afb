"""How weights.bin is made."""
