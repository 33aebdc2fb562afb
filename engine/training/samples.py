"""Training samples of the evaluation, and their labels from the tablebase."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from pathlib import Path

from merels.engine.common.errors import InputError, placed
from merels.engine.common.json_list import read_json_list
from merels.engine.core import core, trainer
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.board import SIZE, mask_of
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.probe import Tables, build_command, open_tables
from merels.engine.tablebase.sectors import placing_sectors, sectors

Samples = bytes | bytearray
"""Concatenated samples."""

LABELLING = (
    ("morris", ("Repetition=0", "NoRemovalPlies=0")),
    ("loc", ()),
    ("multi", ()),
)
"""Rule sets whose tables label samples, one for each value of Flying; the first is required."""

SCORED_NODES = 60
"""Nodes after which the search that scores a sample starts no further iteration."""
LEAF_NODES = 300
"""Nodes after which the search that finds a leaf starts no further iteration."""
PER_LOGIT = 250.0
"""Score of a search, in hundredths of a man, that stands for an expectation of 73 % of the points.

The evaluation itself uses 130 (``PER_LOGIT`` in fit.pxi). Scores of short searches are less
certain."""


def random_position(rules: Rules, own: int, opponent: int, chance: random.Random) -> Position:
    """Return a random unfinished position with no man in hand.

    ``own`` and ``opponent`` are numbers of men of the side to move, which is random, and of its
    opponent.
    """
    while True:
        points = chance.sample(range(SIZE), own + opponent)
        men = mask_of(points[:own]), mask_of(points[own:])
        side = chance.choice((WHITE, BLACK))
        position = Position.of(rules, men if side == WHITE else men[::-1], (0, 0), side)
        if position.outcome() is None:
            return position


def draw(tables: Tables, moving: int, placing: int) -> list[bytearray]:
    """Return random samples from each table.

    ``moving`` and ``placing`` are the numbers of samples from a table of each phase. A small table
    gives fewer.
    """
    every = [*sectors(), *placing_sectors(tables.rules)]
    names = {table: None for sector in every for table in sector.tables}
    return [
        trainer.draw_samples(tables.core, *name, placing if name[2] else moving, seed)
        for seed, name in enumerate(names)
    ]


def score(tables: Tables, samples: Samples) -> bytearray:
    """Return the samples, and add the score of a short search to those without a score."""
    rules = core_rules(tables.rules)
    return trainer.score_samples(_worker(), rules, samples, SCORED_NODES, PER_LOGIT)


def leaves(tables: Tables, samples: Samples) -> bytearray:
    """Return `trainer.leaf_samples` of ``samples`` by the core's weights, with scores."""
    return score(tables, trainer.leaf_samples(tables.core, _worker(), samples, LEAF_NODES))


def _worker() -> core.SearchWorker:
    """Return a search worker with an empty hash table."""
    return core.SearchWorker(core.TranspositionTable(1))


def open_labelling(folder: Path) -> list[Tables]:
    """Return the tables of each of `LABELLING` that are complete below a folder.

    `InputError` if the first ones are incomplete.
    """
    complete: list[Tables] = []
    for variant, fields in LABELLING:
        rules = make_rules(variant, list(fields))
        tables = open_tables(folder, rules)
        if tables.complete:
            complete.append(tables)
        elif not complete:
            command = build_command(rules, folder)
            raise InputError(str(folder), f"expected all tables; make them with {command}")
    return complete


def suite_keys(paths: Sequence[Path]) -> array[int]:
    """Return the core's keys of all positions in some suites, in rising order.

    A suite is a JSON list of objects with ``position``. `InputError` names the suite and the number
    of an invalid position, counted from 1.
    """
    keys: set[int] = set()
    for path in paths:
        items = "objects with a position"
        try:
            texts = [row["position"] for row in read_json_list(path, items)]
        except (TypeError, KeyError):
            raise InputError(str(path), f"expected a JSON list of {items}") from None
        for number, text in enumerate(texts, 1):
            try:
                keys.add(trainer.board_key(core_board(parse_position(str(text)))))
            except InputError as error:
                raise placed(placed(error, f"position {number}"), str(path)) from None
    return array("Q", sorted(keys))
