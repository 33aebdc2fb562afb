"""``merels check``: whether an engine follows the protocol, step by step.

A step is a function that talks to the engine; its docstring says what is expected, and why.
`suite` lists and runs the steps, and `report` prints what they found.
"""
