"""Perft: counting the leaves of the game tree, with cancellation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.position import Move, Position

_CORE_PLIES = 5
"""Greatest depth that the core counts in one call: mostly a few hundredths of a second."""


def divide(
    position: Position, depth: int, cancelled: Callable[[], bool]
) -> Iterator[tuple[Move, int]]:
    """Yield the leaves below each move, ``depth`` plies (at least 1) from here.

    Ends early once ``cancelled`` returns True, without the move whose count was cancelled.
    """
    for move in position.legal_moves():
        leaves = count(position.play(move), depth - 1, cancelled)
        if cancelled():
            return
        yield move, leaves


def write_divide(
    position: Position, depth: int, write: Callable[[str], object], cancelled: Callable[[], bool]
) -> int:
    """Write a line with the leaves below each move, see `divide`; return their sum.

    Without plies nothing is written, and the position itself is the only leaf.
    """
    total = 0 if depth else 1
    for move, leaves in divide(position, depth, cancelled) if depth else ():
        total += leaves
        write(f"{move}: {leaves}")
    return total


def count(position: Position, depth: int, cancelled: Callable[[], bool]) -> int:
    """Return the leaves ``depth`` plies from here; any number once ``cancelled`` returns True."""
    if depth <= _CORE_PLIES:
        if cancelled():
            return 0
        return core.perft(core_rules(position.rules), core_board(position), depth)
    return sum(leaves for _, leaves in divide(position, depth, cancelled))
