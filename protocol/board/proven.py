"""Proven values of a position and of each of its moves."""

from __future__ import annotations

from math import inf

from merels.engine.game.position import Position
from merels.engine.tablebase.probe import TableValue
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.common.json_fields import JSON

_MOST_LOOKED_AT = 30
"""With more moves than this, their replies are not counted: the page must not wait."""
_DEEPEST = 255
"""The greatest depth that tables keep; it stands for all beyond it."""


def proven_view(position: Position) -> JSON | None:
    """Return the proven values of a position and its moves, for the side to move; None if unknown.

    ``depth`` is in plies to the next removal or the end, where it is known. ``replies`` are those
    that hold the value against a move, and all there are; None where they were not counted.
    """
    tables, _ = TABLE_CACHE.fetch(position.rules)
    if tables is None or position.outcome() is not None:
        return None
    moves = list(tables.moves(position))
    known = [value for _, value in moves if value]
    if not known:
        return None
    best = max(known, key=_worth)
    # A move that the tables do not know may be better than any move but a win.
    here = _known_view(best) if best.value > 0 or len(known) == len(moves) else None
    ordered = sorted(moves, key=lambda move: -_worth(move[1]) if move[1] else inf)
    return {
        "here": here,
        "moves": [
            {
                "move": str(move), **(_known_view(value) if value else {}),
                "replies": tables.holding(position.play(move))
                if len(moves) <= _MOST_LOOKED_AT else None,
            }
            for move, value in ordered
        ],
    }


def _worth(known: TableValue) -> float:
    """Where a value stands among others: early wins first, late losses before early ones."""
    return known.value * (_DEEPEST + 1 - (known.depth or 0))


def _known_view(known: TableValue) -> JSON:
    """A proven value in words, with its depth."""
    return {"value": ("draw", "win", "loss")[known.value], "depth": known.depth}
