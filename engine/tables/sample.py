"""Random positions with the value of every turn, to measure error rates by."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine import core
from merels.engine.position import BLACK, WHITE, Position, Turn
from merels.engine.tables.files import pairs
from merels.engine.tables.probe import Known, Tables


class Labelled(NamedTuple):
    """A position, what it is worth to the side to move, and what each of its turns is worth."""

    position: Position
    known: Known
    turns: dict[Turn, Known]

    @property
    def best(self) -> list[Turn]:
        """The turns that keep the position's value."""
        return [turn for turn, known in self.turns.items() if known.value == self.known.value]


def random_position(tables: Tables, own: int, opponent: int, chance: random.Random) -> Position:
    """A position of so many men, each place of its table as likely as any other."""
    larger, smaller = max(own, opponent), min(own, opponent)
    classes = core.table_classes(larger)
    size = core.table_places(own, opponent) // classes
    men = core.table_board(own, opponent, chance.randrange(classes), chance.randrange(size))
    side = chance.choice((WHITE, BLACK))
    if side == BLACK:
        men = men[::-1]
    return Position(tables.rules, men, (0, 0), side)


def labelled_positions(
    tables: Tables, seed: int, number: int, least: int = 6, most: int = 18
) -> Iterator[Labelled]:
    """So many unfinished positions of ``least`` to ``most`` men, every pair of counts as often."""
    chance = random.Random(seed)
    counts = [
        counts
        for pair in pairs(most)
        if sum(pair) >= least and pair in tables.headers
        for counts in {pair, pair[::-1]}
    ]
    while number:
        position = random_position(tables, *chance.choice(counts), chance)
        known = tables.probe(position)
        if known is None or position.outcome() is not None:
            continue
        turns = dict(tables.turns(position))
        if all(turns.values()):
            number -= 1
            yield Labelled(position, known, {turn: of for turn, of in turns.items() if of})
