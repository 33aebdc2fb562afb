"""``merels check``: whether an engine follows the protocol, step by step.

A step talks to the engine; its sentence states what is expected, and why. Steps that only send and
compare are rows, a shared function with arguments; others are functions of their own.
`suite` lists and runs the steps, and `report` prints what they found.
"""
