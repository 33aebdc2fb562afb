"""What holds of the whole run of the tests."""

from __future__ import annotations

import signal

# A shell lets what it runs in the background ignore SIGINT, and that is inherited: the programs
# that the tests interrupt would not hear of it.
signal.signal(signal.SIGINT, signal.default_int_handler)
