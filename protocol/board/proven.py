"""Values of a position and its moves, proven by the tablebase."""

from __future__ import annotations

from math import inf

from merels.engine.game.position import Position
from merels.engine.tablebase.opening import opening_tables
from merels.engine.tablebase.probe import MAX_TABLE_DEPTH, TableValue
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.common.json_fields import JSON

_MOST_MOVES_WITH_REPLIES = 30
"""With more moves the replies are not counted, because counting would delay the page."""


def proven_view(position: Position) -> JSON | None:
    """Return the values of a position and its moves, or None if no value is known.

    ``here`` is the position's value or None. ``moves`` lists moves of known value first, the best
    at the top. A value is ``win``, ``draw`` or ``loss`` for the side to move; ``depth`` is in plies
    to the next removal or the end, or None. A move also has the fields of `_distance`. ``replies``
    is a pair: the number of the opponent's replies that keep the move's value, and the number of
    all replies; None if not counted.
    """
    if position.outcome() is not None:
        return None
    # The package's tables of the opening have the positions that hardly any user's tables have.
    for tables in (TABLE_CACHE.fetch(position.rules)[0], opening_tables(position)):
        moves = [] if tables is None else list(tables.moves(position))
        if known := [value for _, value in moves if value]:
            break
    if tables is None or not known:
        return None
    best = max(known, key=_rank)
    # A move of unknown value may be better than the best known move, unless the latter wins.
    here = _value_view(best) if best.value > 0 or len(known) == len(moves) else None
    ordered = sorted(moves, key=lambda entry: -_rank(entry[1]) if entry[1] else inf)
    return {
        "here": here,
        "moves": [
            {
                "move": str(move),
                **(_value_view(value) | _distance(position, value) if value else {}),
                "replies": tables.holding(position.play(move))
                if len(moves) <= _MOST_MOVES_WITH_REPLIES else None,
            }
            for move, value in ordered
        ],
    }


def _rank(value: TableValue) -> float:
    """Return a sort key; from the top: early wins, late wins, draws, late losses, early losses."""
    return value.value * (MAX_TABLE_DEPTH + 1 - (value.depth or 0))


def _value_view(value: TableValue) -> JSON:
    """Return a proven value and its depth in plies as JSON."""
    return {"value": ("draw", "win", "loss")[value.value], "depth": value.depth}


def _distance(position: Position, value: TableValue) -> JSON:
    """Return ``in``, the distance of a value in moves of one side, and ``ends``.

    ``ends`` is true if the game ends at that distance: with three men on each side, any removal
    ends the game. Otherwise the next removal or the end comes at that distance.
    """
    if value.depth is None:
        return {"in": None, "ends": False}
    ends = not any(position.hands) and all(position.total(side) == 3 for side in (0, 1))
    return {"in": (value.depth + 1) // 2, "ends": ends}
