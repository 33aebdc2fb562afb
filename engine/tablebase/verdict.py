"""Verdicts of the tables on played moves: the value before a move and the value after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FLYING_MEN
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.root_ranking import values_of_moves

PHASES = ("placing", "moving", "flying")


class Verdict(NamedTuple):
    """Values before and after a move for its player: 1 a win, 0 a draw, -1 a loss.

    ``value`` is the value before the move. ``legal`` is the number of legal moves, ``holding`` the
    number of those that keep the value. Unless the verdict is ``certain``, a win or loss may be a
    draw: by a repetition, or by a limit on plies if the tables have no depths.
    """

    value: int
    after: int
    holding: int
    legal: int
    certain: bool

    @property
    def held(self) -> bool:
        """Whether the move kept the value."""
        return self.after == self.value

    @property
    def critical(self) -> bool:
        """Whether at most a third of the legal moves keep the value."""
        return 3 * self.holding <= self.legal


class PlayedMove(NamedTuple):
    """A move of a game, with its number, the side that played it, its phase and its verdict."""

    number: int
    side: int
    move: Move
    phase: str
    verdict: Verdict | None
    """None if the tables lack the value of a legal move, or the game was over before the move."""


def phase_of(position: Position) -> str:
    """Return the phase of a position, one of `PHASES`.

    It is ``flying`` if a side has three men and the rules allow flying.
    """
    if any(position.hands):
        return "placing"
    fewest = min(position.total(side) for side in (WHITE, BLACK))
    flying = fewest <= FLYING_MEN and position.rules.flying != "never"
    return "flying" if flying else "moving"


def verdict(tables: Tables, position: Position, move: Move) -> Verdict | None:
    """Return the verdict on a legal move; None if a legal move has no value or the game is over."""
    if position.outcome() is not None:
        return None
    choices = values_of_moves(tables, position)
    if choices is None:
        return None
    value = max(choice.value for choice in choices)
    holding = [choice for choice in choices if choice.value == value]
    played = next(choice for choice in choices if choice.move == move)
    # One certain move proves a win or a draw; a loss is certain only if all moves are certain.
    certain = (all if value < 0 else any)(choice.certain for choice in holding)
    return Verdict(value, played.value, len(holding), len(choices), certain and played.certain)


def judge(
    tables: Tables, position: Position, moves: Iterable[Move], first: int = 0
) -> Iterator[PlayedMove]:
    """Yield each move of a game from ply ``first`` (counted from 0) on, with its verdict.

    ``tables`` must be those of the game's rules.
    """
    for ply, move in enumerate(moves):
        if ply >= first:
            judged = verdict(tables, position, move)
            yield PlayedMove(position.number, position.side, move, phase_of(position), judged)
        position = position.play(move)
