"""HTTP server for the pages of the board and of a running tournament."""
