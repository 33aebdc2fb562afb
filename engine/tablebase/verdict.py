"""Verdict of the tables on a played move: the value before it, and the value after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FLYING_MEN
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.root_ranking import values_of_moves

PHASES = ("placing", "moving", "flying")


class Verdict(NamedTuple):
    """A move's verdict. Values are the mover's: 1 a win, 0 a draw, -1 a loss.

    ``holding`` of the ``legal`` moves kept the value. Where it is not ``certain``, a limit on plies
    that tables without depths cannot see, or a repetition to come, may have made a draw of a win.
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
        """Whether at most a third of the legal moves kept the value."""
        return 3 * self.holding <= self.legal


class PlayedMove(NamedTuple):
    """A move of a game: its number, who played it in which phase, and what the tables say."""

    number: int
    side: int
    move: Move
    phase: str
    verdict: Verdict | None
    """None where the tables do not know all legal moves, or the game was over."""


def phase_of(position: Position) -> str:
    """``placing``, ``moving``, or ``flying`` where a side has three men and the rules let it."""
    if any(position.hands):
        return "placing"
    fewest = min(position.total(side) for side in (WHITE, BLACK))
    flying = fewest <= FLYING_MEN and position.rules.flying != "never"
    return "flying" if flying else "moving"


def verdict(tables: Tables, position: Position, move: Move) -> Verdict | None:
    """Return the tables' verdict on a legal move; None unless they know every move."""
    if position.outcome() is not None:
        return None
    choices = values_of_moves(tables, position)
    if choices is None:
        return None
    value = max(choice.value for choice in choices)
    holding = [choice for choice in choices if choice.value == value]
    played = next(choice for choice in choices if choice.move == move)
    # One certain way holds a win or a draw; a loss is certain if every move is.
    certain = (all if value < 0 else any)(choice.certain for choice in holding)
    return Verdict(value, played.value, len(holding), len(choices), certain and played.certain)


def judge(
    tables: Tables, position: Position, moves: Iterable[Move], first: int = 0
) -> Iterator[PlayedMove]:
    """Each move of a game from ply ``first`` on, with its verdict; ``tables`` are of its rules."""
    for ply, move in enumerate(moves):
        if ply >= first:
            found = verdict(tables, position, move)
            yield PlayedMove(position.number, position.side, move, phase_of(position), found)
        position = position.play(move)
