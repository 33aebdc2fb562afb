"""Training of the evaluation: one command makes weights.bin."""
