"""A board in the browser: a local server and its page, to play, watch and analyse games."""
