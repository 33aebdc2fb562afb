"""The compiled core against the readable rules, which share no move generation."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from merels.engine.core import core, weights
from merels.engine.core.convert import (
    core_board,
    core_history,
    core_moves,
    core_rules,
    decode_move,
    encode_move,
)
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import LONGEST_HISTORY, Outcome, Position
from merels.engine.game.rules import FLYING_MEN, MEN_PER_SIDE, MINIMUM_MEN, make_rules, parse_rules
from tests.engine.random_games import random_positions, random_rules
from tests.kit.rows import check_rows

DATA = Path(__file__).parents[2] / "data"
PERFT = json.loads((DATA / "perft.json").read_text())
GAMES = json.loads((DATA / "games.json").read_text())


def core_outcome(position: Position) -> Outcome | None:
    """Return the core's outcome of a position."""
    reason, result = core.outcome(
        core_rules(position.rules), core_board(position), core_history(position)
    )
    if not reason:
        return None
    winner = None if result == 0 else position.side if result > 0 else 1 - position.side
    return Outcome(winner, reason)


def assert_core_and_rules_agree(position: Position) -> None:
    """Compare the legal moves and the outcome of the core with those of the readable rules."""
    codes = core_moves(position)
    assert len(set(codes)) == len(codes)
    moves = position.legal_moves()
    assert set(moves) == set(map(decode_move, codes)), position
    assert {encode_move(move) for move in moves} == set(codes)
    assert core_outcome(position) == position.outcome(), position


def test_core_and_rules_have_the_same_constants() -> None:
    assert (core.MEN_PER_SIDE, core.FLYING_MEN, core.MINIMUM_MEN) == (
        MEN_PER_SIDE, FLYING_MEN, MINIMUM_MEN,
    )


def test_core_and_rules_agree_in_random_games() -> None:
    for position in random_positions(1, 6000):
        assert_core_and_rules_agree(position)


def test_the_core_keeps_as_long_a_history_as_the_rules() -> None:
    """The third occurrence is a draw although the first is as long ago as a position keeps."""
    rules = core_rules(make_rules("mill", ["Repetition=3", "NoRemovalPlies=0"]))
    own, opponent = 0b1111, 0b1111 << 12
    key, other = own | opponent << 24, own << 1 | opponent << 24
    history = [key, other, key] + [other] * (LONGEST_HISTORY - 3)
    board = (own, opponent, 0, 0, LONGEST_HISTORY)
    assert core.outcome(rules, board, history)[0] == "repetition"
    assert not core.outcome(rules, board, [other, *history[1:]])[0]


def test_core_and_rules_agree_on_random_boards() -> None:
    """The core finds lines and neighbours by bit shifts, so unreachable boards are tested, too."""
    chance = random.Random(3)
    for _ in range(1500):
        points = chance.sample(range(24), 18)
        own, opponent = chance.randint(3, 9), chance.randint(3, 9)
        men = (
            sum(1 << point for point in points[:own]),
            sum(1 << point for point in points[own : own + opponent]),
        )
        assert_core_and_rules_agree(Position.of(random_rules(chance), men, (0, 0)))


def test_the_core_has_the_stored_perft_counts() -> None:
    def check(row: dict[str, Any]) -> None:
        position = parse_position(row["position"], parse_rules(row["rules"]))
        expected = [count for count in row["perft"] if count < 200_000_000]
        rules, board = core_rules(position.rules), core_board(position)
        depths = range(1, len(expected) + 1)
        assert [core.perft(rules, board, depth) for depth in depths] == expected

    assert PERFT[-1]["position"] == START and len(PERFT) == 81
    check_rows(PERFT, check)


def readable_perft(position: Position, depth: int) -> int:
    moves = position.legal_moves()
    if depth == 1:
        return len(moves)
    return sum(readable_perft(position.play(move), depth - 1) for move in moves)


def test_the_readable_rules_have_the_stored_perft_counts() -> None:
    def check(row: dict[str, Any]) -> None:
        position = parse_position(row["position"], parse_rules(row["rules"]))
        for depth, expected in enumerate(row["perft"], 1):
            if depth == 1 or expected <= 3000:
                assert readable_perft(position, depth) == expected

    check_rows(PERFT, check)


def test_stored_games_are_legal_and_end_as_stored() -> None:
    def check(game: dict[str, Any]) -> None:
        position = parse_position(game["position"], parse_rules(game["rules"]))
        for text in game["moves"].split():
            assert position.outcome() is None
            assert core_outcome(position) is None
            move = parse_move(text)
            assert encode_move(move) in core_moves(position)
            position = position.push(move)
        outcome = position.outcome()
        assert outcome is not None
        assert (outcome.result, outcome.reason) == (game["result"], game["why"])
        assert core_outcome(position) == outcome

    check_rows(GAMES, check)


def test_a_helper_fills_the_table_for_another_worker() -> None:
    weights.ensure()
    start = parse_position(START)
    search = core_rules(start.rules), core_board(start), [], core_moves(start)
    shared = core.TranspositionTable(4)
    helper, helped, unhelped = (
        core.SearchWorker(table) for table in (shared, shared, core.TranspositionTable(4))
    )
    assert not helper.run(*search, None, max_depth=8)
    for worker in (helped, unhelped):
        worker.run(*search, lambda depth, lines: False, max_depth=8)
    assert helped.nodes < unhelped.nodes == helper.nodes


def test_a_helper_returns_whether_a_limit_interrupted_it() -> None:
    weights.ensure()
    start = parse_position(START)
    search = core_rules(start.rules), core_board(start), [], core_moves(start)
    helper = core.SearchWorker(core.TranspositionTable(4))
    assert not helper.run(*search, None, max_depth=4)
    assert helper.run(*search, None, node_limit=1000)


def test_an_entry_without_a_move_adds_no_move_to_a_variation() -> None:
    """Upper bounds are stored without a move; a second search in the same table meets them."""
    weights.ensure()
    worker = core.SearchWorker(core.TranspositionTable(1))
    lines: list[list[int]] = []

    def report(depth: int, results: list[tuple[int, int, list[int]]]) -> bool:
        lines.append(results[0][2])
        return False

    start = parse_position(START)
    rules, board = core_rules(start.rules), core_board(start)
    for _ in range(2):
        worker.run(rules, board, [], core_moves(start), report, max_depth=5)
    assert len(lines) == 10
    for line in lines:
        position = start
        for code in line:
            assert code in core_moves(position)
            position = position.push(decode_move(code))
