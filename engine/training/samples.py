"""Samples that the evaluation is fitted to, and their labels from the tablebase."""

from __future__ import annotations

import json
import random
import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.core import core, trainer
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.board import SIZE, mask_of
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.probe import Tables, build_command, open_tables
from merels.engine.tablebase.sectors import AnySector, placing_sectors, sectors

LABELLING = (
    ("morris", ("Repetition=0", "NoRemovalPlies=0")),
    ("loc", ()),
    ("multi", ()),
)
"""The rule sets whose tables label samples, one for each way of flying; the first is needed."""

SCORED_NODES = 60
"""After which the search that scores a sample ends with its iteration."""
LEAF_NODES = 300
"""After which a search ends whose leaf becomes a sample."""
PER_LOGIT = 250.0
"""Hundredths of a man that are worth 73 % of the points, in a searched score. The weights
themselves are scaled to 130 (``PER_LOGIT`` in fit.pxi): what a search says is taken with doubt."""

_SAMPLE = struct.Struct(trainer.SAMPLE_FORMAT)
_MEN = (1 << SIZE) - 1
_FLYING = 28
"""The bit of a sample's second number from which on it says who may fly."""


class Sample(NamedTuple):
    """A position and what it is worth.

    own, opponent               masks of men, from the side to move's view
    own_hand, opponent_hand     men in hand
    flying                      who may fly, as in the core's rules
    score                       the points that a search expects for the side to move, 0 to 1, or
                                None where none was asked
    result                      the points that it got or gets by the tablebase, or None where
                                nobody has said
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
        """The sample of a position."""
        return Sample(*core_board(position)[:4], flying, score, result)

    def pack(self) -> bytes:
        """The bytes that the core takes."""
        return _SAMPLE.pack(
            self.own | self.own_hand << SIZE,
            self.opponent | self.opponent_hand << SIZE | self.flying << _FLYING,
            *(
                trainer.NO_POINTS if points is None else round(points * trainer.WHOLE)
                for points in self[-2:]
            ),
        )


def unpack(data: bytes) -> Iterator[Sample]:
    """The samples that were packed one after the other."""
    for own, opponent, *both in _SAMPLE.iter_unpack(data):
        points = [None if part == trainer.NO_POINTS else part / trainer.WHOLE for part in both]
        hands = own >> SIZE, opponent >> SIZE & 15
        yield Sample(own & _MEN, opponent & _MEN, *hands, opponent >> _FLYING, *points)


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


class TableLabeller:
    """The tables of one rule set, which label samples of its way of flying."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def draw(self, moving: int, placing: int) -> list[bytes]:
        """Draw at most that many positions of each table, by phase, and number of men in hand."""
        found: list[AnySector] = [*sectors(), *placing_sectors(self.tables.rules)]
        counts = {(*sides, sector.hand): None for sector in found for sides in sector.sides}
        return [
            bytes(trainer.draw_samples(
                self.tables.core, own, opponent, hand, placing if hand else moving, seed
            ))
            for seed, (own, opponent, hand) in enumerate(counts)
        ]

    def score(self, piece: bytes) -> bytes:
        """Samples with what short searches by the core's weights think of them."""
        rules = core_rules(self.tables.rules)
        return bytes(trainer.score_samples(_worker(), rules, piece, SCORED_NODES, PER_LOGIT))

    def leaves(self, piece: bytes) -> bytes:
        """Return the samples with the scores of short searches by the core's weights."""
        found = trainer.leaf_samples(self.tables.core, _worker(), piece, LEAF_NODES)
        return self.score(bytes(found))

    def label(self, piece: bytes) -> bytes:
        """Samples with the tables' values as results, where they know them."""
        return bytes(trainer.label_samples(self.tables.core, piece))


def _worker() -> core.SearchWorker:
    """One that searches without a memory of others."""
    worker = core.SearchWorker(core.TranspositionTable(1))
    worker.clear()
    return worker


def open_labellers(folder: Path) -> list[TableLabeller]:
    """The tables below a folder that labels come from; `InputError` without the first ones."""
    labellers = []
    for variant, fields in LABELLING:
        rules = make_rules(variant, list(fields))
        tables = open_tables(folder, rules)
        if tables.complete:
            labellers.append(TableLabeller(tables))
        elif not labellers:
            command = build_command(rules, folder)
            raise InputError(str(folder), f"expected all tables; make them with {command}")
    return labellers


def read_unseen(paths: Sequence[Path]) -> array[int]:
    """The keys, in rising order, of the positions of suites: JSON lists of ``{"position", …}``."""
    keys: set[int] = set()
    for path in paths:
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
            texts = [row["position"] for row in rows]
        except (ValueError, TypeError, KeyError, RecursionError):
            expected = "expected a JSON list of objects with a position"
            raise InputError(str(path), expected) from None
        for number, text in enumerate(texts):
            try:
                keys.add(trainer.board_key(core_board(parse_position(str(text)))))
            except InputError as error:
                raise error.at(number) from None
    return array("Q", sorted(keys))
