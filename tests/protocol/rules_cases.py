"""Generator of protocol/rules.jsonl, positions that test an implementation of the rules.

    python -m tests.protocol.rules_cases > protocol/rules.jsonl

Most positions come from random games under the five rule sets and under random mixes of their
fields. A position becomes a case if its `features` are new for its rule set; all mixes count as one
rule set.
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
"""Maximum number of moves in a case, unless the last move ends the game."""
REASONS = {"men": "men", "blocked": "blocked", "repetition": "repetition", "norem": "no removal",
           "three": "three against three"}
"""Text of each `Outcome.reason` in the file."""


def features(position: Position, legal: list[Move]) -> tuple[object, ...]:
    """Return the features of a position by which test cases differ."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.reason, outcome.winner
    removed = [move.removed for move in legal]
    men = tuple(mask.bit_count() for mask in position.men)
    own, opponent = position.side, 1 - position.side
    return (
        tuple(hand > 0 for hand in position.hands),
        tuple(men[side] + position.hands[side] == 3 for side in (own, opponent)),
        max(map(len, removed)) if removed else None,
        len({move for move in removed if move}) == men[opponent],
        position.history.count(position.history[-1]) if position.history else 1,
    )


def cases() -> Iterator[dict[str, Any]]:
    """Yield the cases from random games, each as an object of the file."""
    generator, seen = random.Random(SEED), set[object]()
    for number in range(GAMES):
        rules = list(PRESETS.values())[number % 5] if number % 3 else random_rules(generator)
        hands = (9, 9) if number % 2 else (generator.randint(3, 9),) * 2
        start = position = Position.of(rules, hands=hands, side=generator.choice((WHITE, BLACK)))
        moves: list[Move] = []
        while True:
            legal = position.legal_moves() if position.outcome() is None else []
            is_preset = rules in PRESETS.values()
            key = (rules if is_preset else None, features(position, legal))
            if key not in seen and (not legal or len(moves) <= LONGEST_LINE):
                seen.add(key)
                yield case(rules, start, moves, position, legal)
            if not legal or position.number > 150:
                break
            move = choose(position, legal, generator)
            # Sometimes reverse the side's last move: random moves rarely repeat positions.
            if len(moves) > 1 and (origin := moves[-2].origin) is not None:
                reverse = Move(moves[-2].to, origin)
                if reverse in legal and generator.random() < 0.3:
                    move = reverse
            position = position.play(move)
            moves.append(move)
            if not any(position.hands) and (move.removed or move.origin is None):
                start, moves = position, []


def blocked_cases(generator: random.Random) -> Iterator[dict[str, Any]]:
    """Yield a blocked position for each rule set, and one for ``Blocked=draws``.

    Random games rarely reach such positions.
    """
    draws = PRESETS["mill"].with_field("Blocked", "draws")
    for rules in [*PRESETS.values(), draws]:
        while True:
            points = generator.sample(range(24), generator.randint(10, 18))
            white_number = generator.randint(4, len(points) // 2)
            white, black = points[:white_number], points[white_number:]
            men = sum(1 << point for point in white), sum(1 << point for point in black)
            if max(map(int.bit_count, men)) > 9:
                continue
            position = Position.of(rules, men, hands=(0, 0), side=WHITE, number=30)
            if position.outcome() is not None:
                yield case(rules, position, [], position, [])
                break


def case(
    rules: Rules, start: Position, moves: list[Move], position: Position, legal: list[Move]
) -> dict[str, Any]:
    """Return an object of the file: ``moves`` lead from ``start`` to ``position``."""
    outcome = position.outcome()
    row: dict[str, Any] = {"rules": rules.variant}
    if fields := dict(field.split("=") for field in rules.fields_text().split()):
        row["set"] = fields
    row |= {
        "position": format_position(start), "moves": format_moves(moves).split(),
        "legal": sorted(format_moves(legal).split()),
        "outcome": outcome_word(outcome),
    }
    if outcome is not None:
        row["reason"] = REASONS[outcome.reason]
    return row


def outcome_word(outcome: Outcome | None) -> str:
    """Return the word for an outcome in the file."""
    if outcome is None:
        return "none"
    return "draw" if outcome.winner is None else ("white", "black")[outcome.winner]


def text() -> str:
    """Return the text of the file."""
    lines = [*cases(), *blocked_cases(random.Random(SEED))]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


if __name__ == "__main__":
    print(text(), end="")
