"""Training: one command makes weights.bin, another one corrections.bin."""
