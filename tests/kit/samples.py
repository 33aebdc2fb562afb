"""Training samples in readable Python, also invalid ones; a reference for the trainer's format."""

from __future__ import annotations

import struct
from typing import NamedTuple

from merels.engine.core.convert import core_board
from merels.engine.game.board import SIZE
from merels.engine.game.position import Position

SAMPLE = struct.Struct("<IIHH")
POINT, NO_POINTS = 1 << 15, 0xFFFF
"""Numbers that represent one point, and unknown points."""
_FLYING = 28
"""First bit of the rule on flying in a packed sample's second number."""


class Sample(NamedTuple):
    """A position and its expected points.

    own, opponent               masks of men of the side to move and of its opponent
    own_hand, opponent_hand     men in hand
    flying                      who may fly, as in the core's rules
    score                       points that a search expects for the side to move, 0 to 1, or None
    result                      points of the side to move in the game or by the tablebase, or None
    """

    own: int
    opponent: int
    own_hand: int
    opponent_hand: int
    flying: int
    score: float | None
    result: float | None

    @staticmethod
    def of(
        position: Position, flying: int, score: float | None, result: float | None
    ) -> Sample:
        """Return the sample of a position."""
        return Sample(*core_board(position)[:4], flying, score, result)

    def pack(self) -> bytes:
        """Return the sample's bytes, in the format of the core."""
        return SAMPLE.pack(
            self.own | self.own_hand << SIZE,
            self.opponent | self.opponent_hand << SIZE | self.flying << _FLYING,
            *(NO_POINTS if points is None else round(points * POINT) for points in self[-2:]),
        )
