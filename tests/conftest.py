"""What applies to the whole test run."""

from __future__ import annotations

import signal

# A shell makes its background jobs ignore SIGINT, and that is inherited: the programs that the
# tests interrupt would not notice.
signal.signal(signal.SIGINT, signal.default_int_handler)
