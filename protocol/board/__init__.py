"""The board in a browser: a local page that plays, watches and analyses."""
