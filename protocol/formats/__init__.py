"""Game records, positions and rule sets in every form that is read and written."""
