"""What is shown and written while a tournament runs."""
