"""Terminal, pages and files that show a running tournament."""
