"""Memory available for engines, on this machine or in its container's control group (Linux)."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

SHORT_SHARE = 0.25
"""Available share below which memory is short."""
REUSE_SECONDS = 0.2
"""Time for which a result is reused, in seconds."""
_MACHINE = "/proc/meminfo"
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
     "/sys/fs/cgroup/memory/memory.stat"),
)
"""Files of a container's control group: limit, use, and parts of the use; versions 2 and 1."""


class MemoryWatch:
    """Callable that returns whether memory is short, or its available share is unknown."""

    def __init__(self) -> None:
        self._until = 0.0
        self._is_short = True

    def __call__(self) -> bool:
        if monotonic() >= self._until:
            self._is_short = available_share() < SHORT_SHARE
            self._until = monotonic() + REUSE_SECONDS
        return self._is_short


def available_share() -> float:
    """Return the available share of the machine's or, if smaller, the container's memory.

    Return 0 if the share is unknown.
    """
    try:
        machine = _numbers(_MACHINE)
        total = 1024 * machine["MemTotal:"]
        share = 1024 * machine["MemAvailable:"] / total
    except (OSError, KeyError, ValueError, ZeroDivisionError):
        return 0.0
    for limit_file, use_file, parts_file in _GROUPS:
        # Outside a container there is no such group, and a group may have no limit.
        with suppress(OSError, ValueError, ZeroDivisionError):
            limit = int(_text(limit_file))
            if limit < total:
                # The use includes cached files, which the system drops when it needs memory.
                files = _numbers(parts_file).get("inactive_file", 0)
                share = min(share, 1 - (int(_text(use_file)) - files) / limit)
    return share


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _numbers(path: str) -> dict[str, int]:
    """Return the numbers of a file by the first word of their line."""
    lines = (line.split() for line in _text(path).splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1}
