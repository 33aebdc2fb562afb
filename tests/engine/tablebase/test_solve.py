"""Proofs through the placing phase against plain search by the referee."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from merels.engine.game.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.solve import solve


def plain(tables: Tables, position: Position, known: dict[int, int]) -> int:
    """The value for the side to move, by the referee's moves down to the tables."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.value(position.side)
    if position.hands == (0, 0):
        found = tables.probe(position)
        assert found is not None
        return found.value
    if position.key not in known:
        known[position.key] = max(
            -plain(tables, position.play(move), known) for move in position.legal_moves()
        )
    return known[position.key]


def random_placing(rules: Rules, men: int, left: int, chance: random.Random) -> Position:
    """A position reached by random moves, with ``left`` men of each side left in hand."""
    while True:
        position = Position(rules, hands=(men, men))
        while position.hands != (left, left) and position.outcome() is None:
            position = position.play(chance.choice(position.legal_moves()))
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
    """Each move of random positions with a man or two in each hand."""
    tables = Builder(tmp_path, rules).build(8)
    chance = random.Random(str(rules))
    seen: set[int] = set()
    for men, left, number in ((3, 1, 12), (4, 1, 6), (4, 2, 1)):
        for _ in range(number):
            position = random_placing(rules, men, left, chance)
            known: dict[int, int] = {}
            solution = solve(tables, position, hash_mb=1, threads=2)
            assert solution.moves == {
                move: -plain(tables, position.play(move), known)
                for move in position.legal_moves()
            }
            assert solution.value == max(solution.moves.values())
            assert solution.nodes > 0 and solution.probes > 0
            seen.update(solution.moves.values())
    assert len(seen) > 1


def test_three_men_each_win_for_the_first(tmp_path: Path) -> None:
    """With three men a side in hand the side that starts wins, wherever it places its first man."""
    rules = make_rules("morris", ["NoRemovalPlies=0", "Repetition=0"])
    tables = Builder(tmp_path, rules).build(6)
    solution = solve(tables, Position(rules, hands=(3, 3)))
    assert solution.value == 1
    assert len(solution.moves) == 24
    assert set(solution.moves.values()) == {1}


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    """A proof that needs more men than are there says which table."""
    rules = make_rules("mill")
    tables = Builder(tmp_path, rules).build(6)
    with pytest.raises(InputError) as caught:
        solve(tables, Position(rules, hands=(4, 4)))
    assert "4-4" in str(caught.value) and "build" in str(caught.value)
