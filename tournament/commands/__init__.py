"""Commands of the tournament layer, and the command ``merels`` itself."""
