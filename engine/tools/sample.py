"""Random positions with the value of every move, to measure error rates by."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.tablebase.files import pairs
from merels.engine.tablebase.probe import Known, Tables


class Labelled(NamedTuple):
    """A position, what it is worth to the side to move, and what each of its moves is worth."""

    position: Position
    known: Known
    moves: dict[Move, Known]

    @property
    def best(self) -> list[Move]:
        """The moves that keep the position's value."""
        return [move for move, known in self.moves.items() if known.value == self.known.value]


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
        moves = dict(tables.moves(position))
        if all(moves.values()):
            number -= 1
            yield Labelled(position, known, {move: of for move, of in moves.items() if of})
