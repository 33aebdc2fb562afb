"""The bot bridge: a program sends a position as a line of JSON and receives a move."""
