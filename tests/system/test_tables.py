"""Larger tables: published counts, other rules, and searches with them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from merels.engine.game.position import BLACK, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.probe import TableValue, Tables
from merels.engine.tablebase.sectors import Sector, sectors
from merels.engine.tablebase.verify import Verifier
from tests.benchmarks.mates import RULES
from tests.engine.search.test_mates import check_that_a_reported_win_is_kept
from tests.engine.tablebase.test_cache import DRAWN
from tests.engine.tablebase.test_placing import check_all_values_and_counts
from tests.engine.tablebase.test_results import compare
from tests.engine.tablebase.test_values import check_values_follow_from_moves, masks
from tests.kit.rows import check_rows
from tests.kit.tables import built_tables
from tests.kit.waiting import wait
from tests.protocol.gui import PATIENCE, Gui
from tests.sanitize.workload import UNLIMITED

RULE_SETS = (
    make_rules("loc"),
    make_rules("mill", ["Blocked=draws", "Flying=never", "ThreeThreePlies=0"]),
    make_rules("mill", ["DoubleMill=each", "NoRemovalPlies=6"]),
    make_rules("loc", ["Flying=both", "DoubleMill=each", "Blocked=draws", "NoRemovalPlies=0"]),
    make_rules("multi", ["Flying=never", "LockedMills=any", "ThreeThreePlies=3"]),
)


@pytest.fixture(scope="module")
def ten_men() -> Tables:
    return built_tables(UNLIMITED, 10)


def test_sectors_of_ten_men_are_as_published(ten_men: Tables) -> None:
    """Wrong counts of symmetric moves show only from 6-4 on."""
    compare("morris-unlimited", 10)
    assert ten_men.headers[Sector(6, 4)].tallies[0].longest_win == 153
    assert ten_men.headers[Sector(6, 4)].tallies[1].longest_loss == 152
    men = masks("d6 b4 e4 d3 f2", "d5 c4 f4 d2")
    every_move_draws = Position.of(UNLIMITED, men, (0, 0), BLACK)
    assert ten_men.probe(every_move_draws) == TableValue(0, None)
    assert {stored and stored.value for _, stored in ten_men.moves(every_move_draws)} == {0}


def test_a_search_with_tables_keeps_a_reported_win() -> None:
    """The tables rank an early removal first, after which the win takes longer."""
    tables = built_tables(RULES, 10)

    def check(text: str, moves: str) -> None:
        check_that_a_reported_win_is_kept(text, moves, tables)

    check_rows([
        ("@O*O**@*/@@*O@***/**O@**** b 0 0 0 1", "f6-f4 g4-g7"),
        ("@*******/O*@O*@@*/@O*O**@* b 0 0 0 1", "b2-d2 g7-g4"),
        ("@*@*O***/****@@@O/*O@**@** b 0 0 0 1", "d2-f2 g7-f4"),
    ], check)


def test_values_of_other_rules_follow_from_moves() -> None:
    check_rows(RULE_SETS, check_values_follow_from_moves)


def test_every_state_verifies() -> None:
    """Every state agrees with its successors by the move generator of the search."""

    def check(rules: Rules) -> None:
        tables = built_tables(rules, 7, depths=True)
        for sector in sectors(7):
            for result in Verifier(tables).check(sector):
                assert (result.errors, result.complete) == (0, True)

    check_rows([UNLIMITED, *RULE_SETS[1:]], check)


def test_the_placing_phase_agrees_with_the_readable_solver() -> None:
    check_rows([
        make_rules("multi"),
        make_rules("mill", ["Flying=never", "DoubleMill=each", "Blocked=draws"]),
    ], check_all_values_and_counts)


def test_engines_that_start_together_all_get_the_small_tables(tmp_path: Path) -> None:
    """Only one engine can build the tables; the other waits."""
    cache = {"MERELS_TABLES": str(tmp_path)}
    with ExitStack() as stack:
        engines = [stack.enter_context(Gui(environment=cache)) for _ in range(2)]
        for gui in engines:
            gui.send(f"position fen {DRAWN}", "isready")
        for gui in engines:
            gui.until("readyok")
        wait(lambda: all(map(table_hits, engines)), PATIENCE, "small tables in both engines")


def table_hits(gui: Gui) -> int:
    """Return the number of table hits of a short search."""
    lines = [line for line in gui.go("go movetime 20") if " tbhits " in line]
    return int(lines[-1].split(" tbhits ")[1].split()[0])
