"""A floor of strength: blunders in held-out positions are at most those of engine/strength.md.

One thread, fixed nodes, no tables: the counts are the same on every machine. A search that plays
better lowers them; write the new figures into strength.json with `tests.benchmarks.strength`.
"""

from __future__ import annotations

import json

import pytest

from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import load, play
from tests.benchmarks.strength import LIMITS, STORE, SUITE

STATED = {row["key"]: row["all"] for row in json.loads(STORE.read_text("utf-8"))["blunders"]}
EVERY_FOURTH = 13
"""Blunders with 10,000 nodes in every fourth position: a part of the 44 in all."""


def blunders(limit: Limit, every: int = 1) -> int:
    problems = load(SUITE, make_rules("morris"))[::every]
    assert len(problems) * every >= 2686
    return sum(not kept for _, _, kept in play(problems, limit, Searcher()))


@pytest.mark.parametrize("key", ["1 node", "1,000 nodes"])
def test_blunders_at_fixed_nodes_are_at_most_those_stated(key: str) -> None:
    assert blunders(LIMITS[key]) <= STATED[key]


def test_blunders_of_every_fourth_position_are_at_most_those_measured() -> None:
    assert blunders(LIMITS["10,000 nodes"], 4) <= EVERY_FOURTH


@pytest.mark.thorough
def test_blunders_with_10000_nodes_are_at_most_those_stated() -> None:
    assert blunders(LIMITS["10,000 nodes"]) <= STATED["10,000 nodes"]
