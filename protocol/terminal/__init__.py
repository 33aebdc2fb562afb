"""The terminal's interface: games against the engine, running searches, progress, log."""
