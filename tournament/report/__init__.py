"""Tables, plots and pages about games that were played."""
