"""SPSA: tunes an engine's spin options by game pairs of the engine against itself."""
