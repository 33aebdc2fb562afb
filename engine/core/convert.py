"""Positions, rules and moves as the plain numbers that the compiled core takes, and back."""

from __future__ import annotations

from functools import lru_cache

from merels.engine.core import core
from merels.engine.game.board import NAMES, SIZE
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules
from merels.engine.game.score import TABLE_CP, Score

PROVEN = core.PROVEN
"""The core's scores from this on are wins that the search has proved."""

_NONE = core.NO_POINT
_FLYING = ("never", "own", "both")
_MAX_PLIES = 60_000
"""The core counts plies without a removal in 16 bits; no limit is greater."""

CoreRules = tuple[int, bool, bool, bool, int, int, int]
CoreBoard = tuple[int, int, int, int, int]


def core_rules(rules: Rules) -> CoreRules:
    """The core's form of a rule set."""
    return (
        _FLYING.index(rules.flying),
        rules.locked_mills == "none",
        rules.double_mill == "each",
        rules.blocked == "draws",
        rules.repetition,
        rules.no_removal_plies,
        rules.three_three_plies,
    )


def core_board(position: Position) -> CoreBoard:
    """The core's form of a board: the side to move's men, the opponent's, both hands, plies."""
    own, other = position.side, 1 - position.side
    return (
        position.men[own],
        position.men[other],
        position.hands[own],
        position.hands[other],
        min(position.plies, _MAX_PLIES),
    )


def core_history(position: Position) -> list[int]:
    """The keys, as the core writes them, of the earlier positions that may recur here."""
    mask = (1 << SIZE) - 1
    keys = []
    for key in position.history[:-1]:
        white, black = key & mask, key >> SIZE & mask
        hands = key >> 2 * SIZE & 15, key >> 2 * SIZE + 4 & 15
        if key >> 2 * SIZE + 8:
            white, black, hands = black, white, hands[::-1]
        keys.append(white | black << SIZE | hands[0] << 2 * SIZE | hands[1] << 2 * SIZE + 4)
    return keys


@lru_cache(1 << 14)  # A search reports the same moves again and again, on its own clock.
def decode_move(code: int) -> Move:
    """A move from the core's number."""
    to, origin, *men = (code >> shift & 31 for shift in (0, 5, 10, 15))
    removed = sorted((point for point in men if point != _NONE), key=NAMES.__getitem__)
    return Move(None if origin == _NONE else origin, to, tuple(removed))


def encode_move(move: Move) -> int:
    """The core's number for a move, whose removed men it has in rising order of point."""
    removed, second, *_ = (*sorted(move.removed), _NONE, _NONE)
    origin = _NONE if move.origin is None else move.origin
    return move.to | origin << 5 | removed << 10 | second << 15


def core_moves(position: Position) -> list[int]:
    """The legal moves of a position as the core generates and numbers them."""
    return core.legal_moves(core_rules(position.rules), core_board(position))


def perft(position: Position, depth: int) -> int:
    """The number of legal move sequences of ``depth`` plies; draws by counting do not end them."""
    return core.perft(core_rules(position.rules), core_board(position), depth)


def decode_score(value: int) -> Score:
    """Return the `Score` of the core's number: hundredths of a man, or plies to a win or loss."""
    if core.FAR <= abs(value) < PROVEN:
        known = TABLE_CP - (core.TABLE_WIN - abs(value))
        return Score(cp=known if value > 0 else -known)
    if value >= PROVEN:
        return Score(win_in=core.WIN - value)
    if value <= -PROVEN:
        return Score(win_in=-(core.WIN + value))
    return Score(cp=value)
