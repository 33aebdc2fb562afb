"""What each move of a recorded game lost."""
