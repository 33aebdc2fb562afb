"""Conversion of positions, rules, moves and scores to and from the compiled core's numbers.

core.pyi describes the numbers.
"""

from __future__ import annotations

from functools import lru_cache

from merels.engine.core import core
from merels.engine.game.board import NAMES
from merels.engine.game.position import WHITE, Move, Position, make_key, split_key
from merels.engine.game.rules import Rules
from merels.engine.game.score import TABLE_CP, Score

PROVEN = core.PROVEN
"""Least score of the core for a proven win."""

_FLYING = ("never", "own", "both")
_MAX_PLIES = 60_000
"""Cap of the plies without a removal: above every limit of rules, and below 2**16 for the core."""


def core_rules(rules: Rules) -> core._Rules:
    """Return a rule set as the core's numbers."""
    return (
        _FLYING.index(rules.flying),
        rules.locked_mills == "none",
        rules.double_mill == "each",
        rules.blocked == "draws",
        rules.repetition,
        rules.no_removal_plies,
        rules.three_three_plies,
    )


def core_board(position: Position) -> core._Board:
    """Return a position as the core's numbers, without its rules and history."""
    own, other = position.side, 1 - position.side
    return (
        position.men[own],
        position.men[other],
        position.hands[own],
        position.hands[other],
        min(position.plies, _MAX_PLIES),
    )


def core_history(position: Position) -> list[int]:
    """Return the core's keys of the earlier positions that may still recur."""
    keys = []
    for men, hands, side in map(split_key, position.history[:-1]):
        own, other = side, 1 - side
        keys.append(make_key((men[own], men[other]), (hands[own], hands[other]), WHITE))
    return keys


@lru_cache(1 << 14)  # Reports often repeat moves, and decoding a move delays the search.
def decode_move(code: int) -> Move:
    """Return the move that a code of the core represents."""
    to, origin, *men = (code >> shift & 31 for shift in (0, 5, 10, 15))
    removed = sorted((point for point in men if point != core.NO_POINT), key=NAMES.__getitem__)
    return Move(None if origin == core.NO_POINT else origin, to, tuple(removed))


def encode_move(move: Move) -> int:
    """Return the core's code of a move; the code has the removed men in rising order of point."""
    first, second, *_ = (*sorted(move.removed), core.NO_POINT, core.NO_POINT)
    origin = core.NO_POINT if move.origin is None else move.origin
    return move.to | origin << 5 | first << 10 | second << 15


def core_moves(position: Position) -> list[int]:
    """Return the codes of a position's legal moves in the order of the core's move generator."""
    return core.legal_moves(core_rules(position.rules), core_board(position))


def decode_score(value: int) -> Score:
    """Return the `Score` that a score of the core represents."""
    if core.LEAST_WIN <= abs(value) < PROVEN:
        cp = TABLE_CP - (core.TABLE_WIN - abs(value))
        return Score(cp=cp if value > 0 else -cp)
    if value >= PROVEN:
        return Score(win_in=core.WIN - value)
    if value <= -PROVEN:
        return Score(win_in=-(core.WIN + value))
    return Score(cp=value)
