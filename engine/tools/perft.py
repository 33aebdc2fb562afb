"""Perft that can be broken off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from merels.engine.core.convert import perft
from merels.engine.game.position import Move, Position

_UNBROKEN = 5
"""Plies that the core counts in one call: some hundredths of a second, seldom a second or two."""


def divide(
    position: Position, depth: int, cancelled: Callable[[], bool]
) -> Iterator[tuple[Move, int]]:
    """The leaves below each move, ``depth`` plies (at least 1) from here, one move after another.

    Ends early, without the move it was at, once ``cancelled`` says so.
    """
    for move in position.legal_moves():
        leaves = count(position.play(move), depth - 1, cancelled)
        if cancelled():
            return
        yield move, leaves


def count(position: Position, depth: int, cancelled: Callable[[], bool]) -> int:
    """The leaves ``depth`` plies from here; of no meaning once ``cancelled`` says so."""
    if depth <= _UNBROKEN:
        return 0 if cancelled() else perft(position, depth)
    return sum(leaves for _, leaves in divide(position, depth, cancelled))
