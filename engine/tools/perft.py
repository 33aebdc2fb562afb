"""Perft that can be cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from merels.engine.core.convert import perft
from merels.engine.game.position import Move, Position

_UNBROKEN = 5
"""Plies that the core counts in one call, mostly in a few hundredths of a second."""


def divide(
    position: Position, depth: int, cancelled: Callable[[], bool]
) -> Iterator[tuple[Move, int]]:
    """The leaves below each move, ``depth`` plies (at least 1) from here.

    Ends early once ``cancelled`` is true, without the move whose count was cancelled.
    """
    for move in position.legal_moves():
        leaves = count(position.play(move), depth - 1, cancelled)
        if cancelled():
            return
        yield move, leaves


def count(position: Position, depth: int, cancelled: Callable[[], bool]) -> int:
    """The leaves ``depth`` plies from here; meaningless once ``cancelled`` is true."""
    if depth <= _UNBROKEN:
        return 0 if cancelled() else perft(position, depth)
    return sum(leaves for _, leaves in divide(position, depth, cancelled))
