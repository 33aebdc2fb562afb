"""Seeded random games under every rule set and random mixes of their fields."""

from __future__ import annotations

import random
from collections.abc import Iterator

from merels.engine.position import BLACK, WHITE, Position, Turn
from merels.engine.rules import FIELDS, PRESETS, Rules


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


def choose(position: Position, turns: list[Turn], chance: random.Random) -> Turn:
    """A random turn; sometimes one that takes, so that games reach every phase."""
    taking = [turn for turn in turns if turn.taken]
    if taking and chance.random() < 0.5:
        return chance.choice(taking)
    return chance.choice(turns)


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
            turns = position.legal_turns()
            if position.outcome() or not turns:
                break
            position = position.play(choose(position, turns, chance))
