"""Training: one command makes weights.bin."""
