"""Positions of random games under random rules."""

from __future__ import annotations

import random
from collections.abc import Iterator

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FIELDS, PRESETS, Rules


def random_rules(chance: random.Random) -> Rules:
    """Return a random preset, in half of the cases with some fields changed."""
    rules = chance.choice(list(PRESETS.values()))
    if chance.random() < 0.5:
        return rules
    for field in FIELDS:
        if chance.random() < 0.4:
            least = "2" if field.name == "Repetition" else "1"
            value = chance.choice(field.choices or ("0", least, "2", "3", "5", "9", "20", "80"))
            rules = rules.with_field(field.name, value)
    return rules


def choose(position: Position, moves: list[Move], chance: random.Random) -> Move:
    """Return a random move, often one that removes a man, so that games reach every phase."""
    removals = [move for move in moves if move.removed]
    if removals and chance.random() < 0.5:
        return chance.choice(removals)
    return chance.choice(moves)


def random_positions(seed: int, number: int) -> Iterator[Position]:
    """Yield ``number`` positions of random games, including final positions."""
    chance = random.Random(seed)
    while True:
        rules = random_rules(chance)
        hands = (9, 9) if chance.random() < 0.7 else (chance.randint(3, 9), chance.randint(3, 9))
        position = Position.of(rules, hands=hands, side=chance.choice((WHITE, BLACK)))
        for _ in range(300):
            yield position
            number -= 1
            if number == 0:
                return
            moves = position.legal_moves()
            if position.outcome() or not moves:
                break
            position = position.play(choose(position, moves, chance))
