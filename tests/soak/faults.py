"""The faults of `tests/fakes/erratic.py` by letter, and counts of committed faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

NAMES = {
    "c": "crash", "s": "segmentation fault", "h": "hang", "q": "deaf to quit and SIGTERM",
    "i": "illegal move", "g": "garbage", "e": "endless flood", "d": "disconnect",
    "p": "exit in a pv", "k": "exit, leaving a child", "x": "exit after bestmove",
    "o": "overrun", "f": "flood", "t": "two bestmoves",
    "l": "slow start", "r": "wrong readyok", "m": "exit at isready",
}
LOSING = frozenset("cshqigedpk")
"""Faults that lose the game in which they occur, under any limits."""
USUAL = "ccsshqiiggeddppkxxootttffllrrmm"
"""Letters to draw from; faults that take long are rarer."""


def read_tallies(paths: Iterable[Path]) -> Counter[str]:
    """Return the number of committed faults, by letter."""
    counts: Counter[str] = Counter()
    for path in paths:
        if path.exists():
            counts.update(path.read_text())
    del counts["."]
    return counts
