"""A win that the engine reports in a number of moves is won in that number."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables
from tests.benchmarks.mates import RULES, count, won
from tests.kit.tables import built_tables

SUITE = Path(__file__).parents[2] / "data" / "critical.json"


@pytest.fixture(scope="module")
def tables() -> Tables:
    return built_tables(RULES, 10)


def test_wins_reported_without_tables_are_won_in_time() -> None:
    shares: list[float] = []
    results, late = count(won(SUITE, 40), 3_000, show=lambda share, text: shares.append(share))
    assert len(shares) == 40 and shares[-1] == 1.0, "the benchmark shows its progress"
    assert results["kept"] > 20 and not late


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "moves", "with_tables"),
    [
        # The tables rank an early removal first, after which the win takes longer.
        ("@O*O**@*/@@*O@***/**O@**** b 0 0 0 1", "f6-f4 g4-g7", True),
        ("@*******/O*@O*@@*/@O*O**@* b 0 0 0 1", "b2-d2 g7-g4", True),
        ("@*@*O***/****@@@O/*O@**@** b 0 0 0 1", "d2-f2 g7-f4", True),
        # Without the stored win, the second search does not find it again.
        ("**@O@*O*/**O@@O**/*****O*O w 0 0 0 1", "a1-d1 d3-c3", False),
    ],
)
def test_the_next_search_keeps_a_reported_win(
    tables: Tables, text: str, moves: str, with_tables: bool
) -> None:
    position, searcher = parse_position(text, RULES), Searcher(2)
    searcher.tables = tables if with_tables else None
    first = searcher.search(position, Limit(nodes=20_000))
    own, reply = moves.split()
    assert str(first.move) == own and first.info.score is not None
    second = searcher.search(position.push(own).push(reply), Limit(nodes=20_000))
    reported, remaining = first.info.score.relative.win_in, second.info.score
    assert reported is not None and remaining is not None
    assert remaining.relative.win_in is not None and remaining.relative.win_in <= reported - 2
