"""Public names of `merels.tournament`, and arguments of wrong types and values."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from typing import Any

import pytest

import merels.tournament
from merels.tournament import GameScore, MatchCounts, Sprt, count_matches, from_cells, rate


def test_public_names_exist_and_the_example_runs() -> None:
    assert all(getattr(merels.tournament, name) for name in merels.tournament.__all__)
    failures, examples = doctest.testmod(merels.tournament)
    assert examples and not failures


GAMES: Any = count_matches([GameScore("A", "B", 1, 0)])


@pytest.mark.parametrize("call", [
    lambda: Sprt(None, 5), lambda: Sprt(0, "5"), lambda: Sprt(0, 5, alpha=[0.05]),
    lambda: Sprt(0, 5, beta=None), lambda: Sprt(0, 5, model=None), lambda: Sprt(0, 10**400),
    lambda: Sprt(0, 5).llr(None), lambda: Sprt(0, 5).llr((1, "2", 3)),
    lambda: Sprt(0, 5).verdict("x"), lambda: Sprt(0, 5).fraction(None),
    lambda: GameScore(1, 2, 0.5), lambda: GameScore("A", "B", None),
    lambda: GameScore("A", "B", 1, []),
    lambda: count_matches(None), lambda: count_matches([("A", "B", 1)]),
    lambda: count_matches("AB"), lambda: from_cells(None), lambda: from_cells((1, None, 2)),
    lambda: from_cells((10**400, 0, 0)),
    lambda: rate(None), lambda: rate({"AB": MatchCounts()}), lambda: rate({("A", "B"): (1, 0, 0)}),
    lambda: rate({("A", "B"): MatchCounts(wins="1")}), lambda: rate({("A", "B"): MatchCounts(-1)}),
    lambda: rate({("A", "B"): MatchCounts(wins=1, ww=5)}), lambda: rate({("A", 5): MatchCounts(1)}),
    lambda: rate(GAMES, ["A"]), lambda: rate(GAMES, {"A": "5"}),
    lambda: rate(GAMES, {"A": 10**400}),
])  # fmt: skip
def test_a_wrong_argument_raises_a_value_error(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        call()
