"""Tables, plots and pages on finished games."""
