"""Samples, which the evaluation is fitted to, and random positions to take some of."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_board
from merels.engine.game.board import SIZE, mask_of
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import Rules

_SAMPLE = struct.Struct(core.SAMPLE_FORMAT)


class Sample(NamedTuple):
    """A position and what it is worth.

    own, opponent               masks of men, from the side to move's view
    own_hand, opponent_hand     men in hand
    flying                      who may fly, as in the core's rules
    score                       the points that a search expects for the side to move, 0 to 1
    result                      the points that it got, or that the tablebase gives it
    """

    own: int
    opponent: int
    own_hand: int
    opponent_hand: int
    flying: int
    score: float
    result: float

    @staticmethod
    def of(position: Position, flying: int, score: float, result: float) -> Sample:
        """The sample of a position."""
        return Sample(*core_board(position)[:4], flying, score, result)

    def pack(self) -> bytes:
        """The bytes that the core takes."""
        return _SAMPLE.pack(*self)


def unpack(data: bytes) -> Iterator[Sample]:
    """The samples that were packed one after the other."""
    return map(Sample._make, _SAMPLE.iter_unpack(data))


def random_position(rules: Rules, own: int, opponent: int, chance: random.Random) -> Position:
    """An unfinished position with men anywhere and none in hand, either side to move.

    ``own`` counts the side to move's men.
    """
    while True:
        points = chance.sample(range(SIZE), own + opponent)
        men = mask_of(points[:own]), mask_of(points[own:])
        side = chance.choice((WHITE, BLACK))
        position = Position(rules, men if side == WHITE else men[::-1], (0, 0), side)
        if position.outcome() is None:
            return position
