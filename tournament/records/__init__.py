"""What all rooms speak of: settings, games, results."""
