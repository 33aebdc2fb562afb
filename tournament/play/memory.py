"""Memory that is left for engines, on this machine or in this process's control group (Linux)."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

SHORT = 0.25
"""Share of the memory below which it is short."""
FRESH_SECONDS = 0.2
"""Age up to which the last answer is given again."""
_MACHINE = "/proc/meminfo"
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat"),
)
"""Limit, use and its parts, of the control group of this process's container: versions 2 and 1."""


class MemoryWatch:
    """A call returns whether less than `SHORT` of the memory is available, or it is unknown."""

    def __init__(self) -> None:
        self._until = 0.0
        self._is_short = True

    def __call__(self) -> bool:
        if monotonic() >= self._until:
            self._is_short = available_share() < SHORT
            self._until = monotonic() + FRESH_SECONDS
        return self._is_short


def available_share() -> float:
    """Share of the memory that is available, of the machine's or of a tighter limit; 0: unknown."""
    try:
        machine = _numbers(_MACHINE)
        total = 1024 * machine["MemTotal:"]
        share = 1024 * machine["MemAvailable:"] / total
    except (OSError, KeyError, ValueError, ZeroDivisionError):
        return 0.0
    for limit_file, use_file, parts_file in _GROUPS:
        with suppress(OSError, ValueError, ZeroDivisionError):  # No such group, or no limit.
            limit = int(_text(limit_file))
            if limit < total:
                # Files that were read count as used, and are given up when memory is needed.
                files = _numbers(parts_file).get("inactive_file", 0)
                share = min(share, 1 - (int(_text(use_file)) - files) / limit)
    return share


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _numbers(path: str) -> dict[str, int]:
    """The number behind the first word of each line."""
    lines = (line.split() for line in _text(path).splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
