"""The game in readable Python: board, rules, positions, notation."""
