"""Waiting for an event in another process or thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def wait(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Return the first true value of a condition; fail after ``seconds``, naming ``what``."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.03)
