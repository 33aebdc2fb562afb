"""A win that the engine reports in a number of moves is won in that number."""

from __future__ import annotations

from pathlib import Path

from merels.engine.game.notation import parse_position
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables
from tests.benchmarks.mates import RULES, count, won

SUITE = Path(__file__).parents[2] / "data" / "critical.json"


def test_wins_reported_without_tables_are_won_in_time() -> None:
    shares: list[float] = []
    results, late = count(
        won(SUITE, 25), 3_000, show=lambda share, text: shares.append(share), resistance=20_000
    )
    assert len(shares) == 25 and shares[-1] == 1.0, "the benchmark shows its progress"
    assert results["kept"] > 12 and not late


def check_that_a_reported_win_is_kept(text: str, moves: str, tables: Tables | None) -> None:
    """Search a position and, two plies later, what is left of the reported win."""
    position, searcher = parse_position(text, RULES), Searcher(2)
    searcher.tables = tables
    first = searcher.search(position, Limit(nodes=20_000))
    own, reply = moves.split()
    assert str(first.move) == own and first.info.score is not None
    second = searcher.search(position.push(own).push(reply), Limit(nodes=20_000))
    reported, remaining = first.info.score.relative.win_in, second.info.score
    assert reported is not None and remaining is not None
    assert remaining.relative.win_in is not None and remaining.relative.win_in <= reported - 2


def test_the_next_search_keeps_a_reported_win() -> None:
    """Without the stored win, the second search does not find it again."""
    check_that_a_reported_win_is_kept(
        "**@O@*O*/**O@@O**/*****O*O w 0 0 0 1", "a1-d1 d3-c3", tables=None
    )
