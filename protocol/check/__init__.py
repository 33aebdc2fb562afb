"""``merels check``: whether an engine keeps to the protocol, step by step.

A step is a function that talks to the engine, with one sentence on what is expected and who
suffers otherwise. `suite` lists them all, `runner` runs them, `report` prints what they found.
"""
