"""The conformance test of ``merels check``, in steps.

A step is a function that sends commands to the engine and judges its output. Its docstring states
the expected behaviour and the reason for it. `run` lists and runs the steps, `report` prints their
findings.
"""
