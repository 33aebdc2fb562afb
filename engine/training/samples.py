"""Samples, which the evaluation is fitted to, and what the tablebase says of them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.board import SIZE, mask_of
from merels.engine.game.errors import InputError
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import MEN_PER_SIDE, MINIMUM_MEN, Rules, make_rules
from merels.engine.tablebase.probe import build_command, open_tables

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


class Truth:
    """The tablebase of morris, whose values replace the results of games."""

    def __init__(self, folder: Path) -> None:
        self.rules = make_rules("morris")
        self.tables = open_tables(folder, self.rules)
        self.flying = core_rules(self.rules)[0]

    def check_whole(self, folder: Path) -> None:
        """Raise `InputError` where some table is missing."""
        if not self.tables.whole:
            command = build_command(self.rules, folder)
            raise InputError(str(folder), f"expected all tables; make them with {command}")

    def value(self, sample: Sample) -> int | None:
        """The value for the side to move, -1 to 1, where it is known."""
        if sample.flying != self.flying:
            return None
        bounds = self.tables.core.bounds((*sample[:4], 0))
        return None if bounds is None else bounds[0]

    def label(self, piece: bytes) -> bytes:
        """Samples with the value as the result, where there is one."""
        labelled = bytearray()
        for sample in unpack(piece):
            value = self.value(sample)
            if value is not None:
                sample = sample._replace(result=(1 + value) / 2)
            labelled += sample.pack()
        return bytes(labelled)

    def anywhere(self, number: int, seed: int) -> bytes:
        """Up to ``number`` random positions without men in hand: those that tables know."""
        chance = random.Random(seed)
        samples = bytearray()
        for _ in range(number):
            own, opponent = (chance.randint(MINIMUM_MEN, MEN_PER_SIDE) for _ in range(2))
            position = random_position(self.rules, own, opponent, chance)
            sample = Sample.of(position, self.flying, 0, 0)
            value = self.value(sample)
            if value is not None:
                points = (1 + value) / 2
                samples += sample._replace(score=points, result=points).pack()
        return bytes(samples)
