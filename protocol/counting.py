"""Perft that can be broken off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from merels.engine.bridge import perft
from merels.engine.position import Position, Turn

_UNBROKEN = 5
"""Plies that the core counts in one call: some hundredths of a second, seldom a second or two."""


def divide(
    position: Position, depth: int, cancelled: Callable[[], bool]
) -> Iterator[tuple[Turn, int]]:
    """The leaves below each turn, ``depth`` plies (at least 1) from here, one turn after another.

    Ends early, without the turn it was at, once ``cancelled`` says so.
    """
    for turn in position.legal_turns():
        leaves = count(position.play(turn), depth - 1, cancelled)
        if cancelled():
            return
        yield turn, leaves


def count(position: Position, depth: int, cancelled: Callable[[], bool]) -> int:
    """The leaves ``depth`` plies from here; of no meaning once ``cancelled`` says so."""
    if depth <= _UNBROKEN:
        return 0 if cancelled() else perft(position, depth)
    return sum(leaves for _, leaves in divide(position, depth, cancelled))
