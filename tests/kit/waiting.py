"""Waiting for what another process or thread does: always for an event, never for silence."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST = 120.0
"""Seconds until a wait fails; long, because machines that run tests are busy."""


def wait_until(condition: Callable[[], object], what: str, seconds: float = LONGEST) -> None:
    """Wait until ``condition`` is true; fail with ``what`` after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain: {what}"
        time.sleep(0.01)
