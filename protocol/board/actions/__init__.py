"""The actions that the page can request of a board."""
