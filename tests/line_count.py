"""Costs that do not depend on the machine's speed: executed lines of Python, memory allocated."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(call: Callable[[], object]) -> int:
    """Return the number of lines of Python that a call executes."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    outer_trace = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(outer_trace)
    return count


def bytes_allocated(call: Callable[[], object]) -> int:
    """Return the sum of the memory that each executed line of Python allocates, in bytes.

    Unlike `lines_run`, it shows that a line copies ever more.
    """
    total = before = 0

    def trace(_frame: FrameType | None, _event: str, _: object) -> Any:
        nonlocal total, before
        now, peak = tracemalloc.get_traced_memory()
        total += peak - before
        tracemalloc.reset_peak()
        before = now
        return trace

    outer_trace = sys.gettrace()
    tracemalloc.start()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(outer_trace)
        trace(None, "", None)
        tracemalloc.stop()
    return total
