"""Round robin, gauntlet, Swiss and knockout pairing."""
