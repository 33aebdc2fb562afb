"""Views of a running tournament: terminal, web page, PGN, EPD and log files."""
