"""The conformance test of ``merels check``, in steps.

A step sends commands to the engine and judges its output. The step's text states the expected
behaviour and the reason for it. Similar steps are rows that share a function; every other step is a
function whose docstring is the step's text. `suite` lists and runs the steps, `report` prints their
findings.
"""
