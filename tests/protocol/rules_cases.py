"""Generates protocol/rules.jsonl, the cases that test an implementation of the rules.

    python -m tests.protocol.rules_cases > protocol/rules.jsonl

Positions come from random games under the five rule sets and under random mixes of their fields.
A position is kept when it shows new features under its rules.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from merels.engine.game.notation import format_moves, format_position
from merels.engine.game.position import BLACK, WHITE, Move, Outcome, Position
from merels.engine.game.rules import PRESETS, Rules
from tests.engine.random_games import choose, random_rules

SEED = 2026
GAMES = 600
LONGEST_LINE = 20
"""Moves of a case at most, unless the game ends with the last one."""
REASONS = {"men": "men", "blocked": "blocked", "repetition": "repetition", "norem": "no removal",
           "three": "three against three"}


def features(position: Position, legal: list[Move]) -> tuple[object, ...]:
    """What a case tests."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.reason, outcome.winner
    removed = [move.removed for move in legal]
    men = tuple(mask.bit_count() for mask in position.men)
    own, other = position.side, 1 - position.side
    return (
        tuple(hand > 0 for hand in position.hands),
        tuple(men[side] + position.hands[side] == 3 for side in (own, other)),
        max(map(len, removed)) if removed else None,
        len({move for move in removed if move}) == men[other],
        position.history.count(position.history[-1]) if position.history else 1,
    )


def cases() -> Iterator[dict[str, Any]]:
    """The cases, as the file's objects."""
    chance, seen = random.Random(SEED), set[object]()
    for number in range(GAMES):
        rules = (list(PRESETS.values())[number % 5] if number % 3 else random_rules(chance))
        hands = (9, 9) if number % 2 else (chance.randint(3, 9),) * 2
        first = position = Position(rules, hands=hands, side=chance.choice((WHITE, BLACK)))
        moves: list[Move] = []
        while True:
            legal = position.legal_moves() if position.outcome() is None else []
            is_preset = rules in PRESETS.values()
            key = (rules if is_preset else None, features(position, legal))
            if key not in seen and (not legal or len(moves) <= LONGEST_LINE):
                seen.add(key)
                yield case(rules, first, moves, position, legal)
            if not legal or position.number > 150:
                break
            move = choose(position, legal, chance)
            # Moves back and forth, so that positions are repeated.
            back = [one for one in legal if len(moves) > 1 and not one.removed
                    and (one.origin, one.to) == (moves[-2].to, moves[-2].origin)]
            if back and chance.random() < 0.3:
                move = back[0]
            position = position.play(move)
            moves.append(move)
            if not any(position.hands) and (move.removed or move.origin is None):
                first, moves = position, []


def blocked(chance: random.Random) -> Iterator[dict[str, Any]]:
    """A side without a move, under each rule set and once where that draws. Random games rarely
    reach it."""
    draws = PRESETS["mill"].with_field("Blocked", "draws")
    for rules in [*PRESETS.values(), draws]:
        while True:
            points = chance.sample(range(24), chance.randint(10, 18))
            own = chance.randint(4, len(points) // 2)
            white, black = points[:own], points[own:]
            men = sum(1 << point for point in white), sum(1 << point for point in black)
            position = Position(rules, men, hands=(0, 0), side=WHITE, number=30)
            if max(map(int.bit_count, men)) <= 9 and position.outcome() is not None:
                yield case(rules, position, [], position, [])
                break


def case(
    rules: Rules, first: Position, moves: list[Move], position: Position, legal: list[Move]
) -> dict[str, Any]:
    """One line of the file."""
    outcome = position.outcome()
    found: dict[str, Any] = {"rules": rules.variant}
    if fields := dict(field.split("=") for field in rules.fields_text().split()):
        found["set"] = fields
    found |= {
        "position": format_position(first), "moves": format_moves(moves).split(),
        "legal": sorted(format_moves(legal).split()),
        "outcome": winner(outcome),
    }
    if outcome is not None:
        found["reason"] = REASONS[outcome.reason]
    return found


def winner(outcome: Outcome | None) -> str:
    """The text of an outcome."""
    if outcome is None:
        return "none"
    return "draw" if outcome.winner is None else ("white", "black")[outcome.winner]


def text() -> str:
    """The file."""
    lines = [*cases(), *blocked(random.Random(SEED))]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


if __name__ == "__main__":
    print(text(), end="")
