"""Random positions: of games under all sorts of rules, and of the tablebase with their values."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FIELDS, PRESETS, Rules
from merels.engine.tablebase.probe import Known, Tables
from merels.engine.tablebase.sectors import sectors
from merels.engine.training.samples import random_position


def random_rules(chance: random.Random) -> Rules:
    """A preset, in every second case with some fields changed."""
    rules = chance.choice(list(PRESETS.values()))
    if chance.random() < 0.5:
        return rules
    for field in FIELDS:
        if chance.random() < 0.4:
            value = chance.choice(field.choices or ("0", "1", "2", "3", "5", "9", "20", "80"))
            rules = rules.with_field(field.name, value)
    return rules


def choose(position: Position, moves: list[Move], chance: random.Random) -> Move:
    """A random move; often one that removes a man, so that games reach every phase."""
    removals = [move for move in moves if move.removed]
    if removals and chance.random() < 0.5:
        return chance.choice(removals)
    return chance.choice(moves)


def random_positions(seed: int, number: int) -> Iterator[Position]:
    """So many positions of random games, final ones included."""
    chance = random.Random(seed)
    while True:
        rules = random_rules(chance)
        hands = (9, 9) if chance.random() < 0.7 else (chance.randint(3, 9), chance.randint(3, 9))
        position = Position(rules, hands=hands, side=chance.choice((WHITE, BLACK)))
        for _ in range(300):
            yield position
            number -= 1
            if number == 0:
                return
            moves = position.legal_moves()
            if position.outcome() or not moves:
                break
            position = position.play(choose(position, moves, chance))


class Labelled(NamedTuple):
    """A position, what it is worth to the side to move, and what each of its moves is worth."""

    position: Position
    known: Known
    moves: dict[Move, Known]

    @property
    def best(self) -> list[Move]:
        """The moves that keep the position's value."""
        return [move for move, known in self.moves.items() if known.value == self.known.value]


def labelled_positions(
    tables: Tables, seed: int, number: int, least: int = 6, most: int = 18
) -> Iterator[Labelled]:
    """So many unfinished positions of ``least`` to ``most`` men, every sector equally often."""
    chance = random.Random(seed)
    counts = [
        counts
        for sector in sectors(most)
        if sum(sector) >= least and sector in tables.headers
        for counts in sector.sides
    ]
    while number:
        position = random_position(tables.rules, *chance.choice(counts), chance)
        known = tables.probe(position)
        moves = dict(tables.moves(position))
        if known is not None and all(moves.values()):
            number -= 1
            yield Labelled(position, known, {move: of for move, of in moves.items() if of})
