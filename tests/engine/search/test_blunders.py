"""A floor of strength: blunders in held-out positions are at most those of engine/strength.md.

One thread, fixed nodes, no tables but those of the opening: the counts are the same on every
machine. A search that plays better lowers them; write the new figures into strength.json with
`tests.benchmarks.strength`.
"""

from __future__ import annotations

from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import load, play
from tests.benchmarks.strength import LIMITS, SUITE
from tests.kit.rows import check_rows

PART = 4
"""The default tests search every fourth position."""
BLUNDERS_OF_PART = [("1 node", 1, 60), ("1,000 nodes", 1, 24), ("10,000 nodes", 2, 8)]
"""Limit, every which position of the part, and blunders there; all positions: strength.md."""


def blunders(limit: Limit, every: int = 1) -> int:
    """Return the number of blunders in every ``every``-th position."""
    problems = load(SUITE, make_rules("morris"))[::every]
    assert len(problems) * every >= 2686
    return sum(not kept for _, _, kept in play(problems, limit, Searcher()))


def test_blunders_in_a_part_of_the_positions_are_at_most_those_measured() -> None:
    def check(key: str, every: int, most: int) -> None:
        assert blunders(LIMITS[key], PART * every) <= most

    check_rows(BLUNDERS_OF_PART, check)
