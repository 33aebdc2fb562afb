"""Pruning, reductions and extensions of the search, checked with tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_rules, decode_score
from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import Score
from merels.engine.tablebase.probe import Tables
from merels.engine.training.samples import random_position
from tests.kit.tables import built_tables

RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0", "ThreeThreePlies=0"])
DEPTH = 6


class Iteration(NamedTuple):
    """A completed iteration, with the nodes and table hits of the search so far."""

    depth: int
    score: Score
    nodes: int
    table_hits: int


@pytest.fixture(scope="module")
def tables() -> Tables:
    return built_tables(RULES, 7, depths=True)


def iterations(
    position: Position, depth: int, table: core.TranspositionTable | None = None,
    tables: Tables | None = None, node_limit: int = 0, table_men: int = 24,
) -> list[Iteration]:
    """Return all iterations of a worker's search to a depth."""
    weights.ensure()
    table = table or core.TranspositionTable(1)
    table.new_search()
    worker, finished = core.SearchWorker(table), list[Iteration]()
    rules, board = core_rules(position.rules), core_board(position)

    def report(done: int, lines: list[tuple[int, int, list[int]]]) -> bool:
        finished.append(Iteration(
            done, decode_score(lines[0][0]), worker.nodes, worker.table_hits))
        return False

    worker.run(
        rules, board, [], core.legal_moves(rules, board), report, max_depth=depth,
        tables=tables and tables.core, node_limit=node_limit, table_men=table_men,
    )  # fmt: skip
    return finished


def positions(own: int, opponent: int, number: int) -> Iterator[Position]:
    """Yield random unfinished positions."""
    chance = random.Random(own * 10 + opponent)
    while number:
        position = random_position(RULES, own, opponent, chance)
        if position.outcome() is None:
            number -= 1
            yield position


@pytest.mark.parametrize("men", [(3, 3), (4, 3), (3, 4)])
def test_proven_scores_agree_with_the_tables(tables: Tables, men: tuple[int, int]) -> None:
    """No step prunes the move that saves a side or refutes a win."""
    for position in positions(*men, 30):
        stored = tables.probe(position)
        assert stored is not None
        for depth, score, *_ in iterations(position, DEPTH):
            if score.win_in is not None:
                assert (score.win_in > 0) - (score.win_in < 0) == stored.value, position
            if score.win_in is not None and men == (3, 3) and stored.depth is not None:
                assert abs(score.win_in) >= stored.depth, "shorter than possible"
                assert abs(score.win_in) in (stored.depth, *range(depth + 1, 100)), "not shortest"


def test_a_win_is_found_at_its_depth_and_a_forced_win_sooner(tables: Tables) -> None:
    """Late move reductions and pruning miss no win; extensions find forced wins sooner."""
    wins, sooner = 0, 0
    for position in positions(3, 3, 250):
        stored = tables.probe(position)
        assert stored is not None
        # The next removal ends the game, so the depth to conversion is the distance to the end.
        if stored.value == 1 and stored.depth is not None and 1 < stored.depth <= DEPTH:
            depths = [done.depth for done in iterations(position, DEPTH)
                      if done.score.win_in == stored.depth]
            assert depths and depths[0] <= stored.depth, position
            wins += 1
            sooner += depths[0] < stored.depth
    assert wins > 20 and sooner > 20


def test_a_win_in_one_cuts_off_all_other_moves() -> None:
    """Mate-distance pruning: no other move can be better."""
    won = parse_position("********/@*@*@***/OO***O** w 0 0 0 20", RULES)
    finished = iterations(won, 30, node_limit=1_000_000)
    assert finished[-1].depth == 30 and {done.score.win_in for done in finished} == {1}
    assert finished[-1].nodes < 30 * 100


def test_a_table_value_ends_the_search_of_a_node(tables: Tables) -> None:
    eight_men = parse_position("@*@*@***/********/OO*O*O*@ w 0 0 0 20", RULES)
    with_tables = iterations(eight_men, 8, tables=tables)[-1]
    assert with_tables.nodes < iterations(eight_men, 8)[-1].nodes
    for position in positions(4, 3, 20):
        stored = tables.probe(position)
        assert stored is not None
        # All children are in the tables: each is probed, and none is searched further.
        final = iterations(position, 8, tables=tables)[-1]
        assert final.nodes <= 8 * 4 * (len(position.legal_moves()) + 1)
        value = final.score.cp if final.score.win_in is None else final.score.win_in
        assert value is not None and (value > 0) - (value < 0) == stored.value


def test_a_value_in_the_tables_is_a_table_win_less_the_plies_to_the_probe(tables: Tables) -> None:
    seen = set()
    for position in (*positions(4, 3, 1500), *positions(3, 4, 1500)):
        stored = tables.probe(position)
        assert stored is not None
        if stored.depth is not None and stored.depth > 6:  # The search cannot reach the end.
            # Leaves of the first iteration are not probed; later iterations probe after a move.
            expected = decode_score(stored.value * (core.TABLE_WIN - 1))
            later = iterations(position, 4, tables=tables)[1:]
            assert {iteration.score for iteration in later} == {expected}
            seen.add(stored.value)
    assert 1 in seen


def test_tables_are_probed_only_with_fewer_men_than_the_limit(tables: Tables) -> None:
    hits = []
    for position in positions(4, 3, 20):
        hits.append([
            iterations(position, 4, tables=tables, table_men=men)[-1].table_hits
            for men in (6, 7, 8)
        ])
    assert all(below_six == 0 for below_six, _, _ in hits)
    assert any(below_seven > 0 for _, below_seven, _ in hits), "a capture leaves six men"
    assert any(below_eight > 0 for _, _, below_eight in hits)
