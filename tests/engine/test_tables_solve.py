"""Proofs through the placing phase against plain search by the referee."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.errors import InputError
from merels.engine.position import Position
from merels.engine.rules import Rules, make_rules
from merels.engine.tables.build import Builder
from merels.engine.tables.probe import Tables
from merels.engine.tables.solve import solve


def plain(tables: Tables, position: Position, known: dict[int, int]) -> int:
    """The value for the side to move, by the referee's turns down to the tables."""
    outcome = position.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else 1 if outcome.winner == position.side else -1
    if position.hands == (0, 0):
        found = tables.probe(position)
        assert found is not None
        return found.value
    if position.key not in known:
        known[position.key] = max(
            -plain(tables, position.play(turn), known) for turn in position.legal_turns()
        )
    return known[position.key]


def random_placing(rules: Rules, men: int, left: int, chance: random.Random) -> Position:
    """A position reached by random turns, with so many men of each side left in hand."""
    while True:
        position = Position(rules, hands=(men, men))
        while position.hands != (left, left) and position.outcome() is None:
            position = position.play(chance.choice(position.legal_turns()))
        if position.outcome() is None:
            return position


@pytest.mark.parametrize(
    "rules",
    (
        make_rules("morris", ["NoRemovalPlies=0"]),
        make_rules("mill"),
        make_rules("multi"),
        make_rules("loc", ["Blocked=draws"]),
    ),
    ids=str,
)
def test_values_of_placing_positions(tmp_path: Path, rules: Rules) -> None:
    """Each turn of random positions with a man or two in each hand."""
    tables = Builder(tmp_path, rules).build(8)
    chance = random.Random(str(rules))
    seen: set[int] = set()
    for men, left, number in ((3, 1, 12), (4, 1, 6), (4, 2, 1)):
        for _ in range(number):
            position = random_placing(rules, men, left, chance)
            known: dict[int, int] = {}
            solution = solve(tables, position, hash_mb=1, threads=2)
            assert solution.turns == {
                turn: -plain(tables, position.play(turn), known)
                for turn in position.legal_turns()
            }
            assert solution.value == max(solution.turns.values())
            assert solution.nodes > 0 and solution.probes > 0
            seen.update(solution.turns.values())
    assert len(seen) > 1


def test_three_men_each_win_for_the_first(tmp_path: Path) -> None:
    """With three men a side in hand the side that starts wins, whatever point it takes."""
    rules = make_rules("morris", ["NoRemovalPlies=0", "Repetition=0"])
    tables = Builder(tmp_path, rules).build(6)
    solution = solve(tables, Position(rules, hands=(3, 3)))
    assert solution.value == 1
    assert len(solution.turns) == 24
    assert set(solution.turns.values()) == {1}


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    """A proof that needs more men than are there says which table."""
    rules = make_rules("mill")
    tables = Builder(tmp_path, rules).build(6)
    with pytest.raises(InputError) as caught:
        solve(tables, Position(rules, hands=(4, 4)))
    assert "4-4" in str(caught.value) and "build" in str(caught.value)
