"""Proven scores: their distances are exact, and playing them out ends the game in time."""

from __future__ import annotations

import pytest

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_history, core_moves, core_rules
from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import parse_rules
from merels.engine.search.clock import Clock
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from tests.kit.entries import Entries

MORRIS = parse_rules("morris")
WON = (
    "****@**@/O*@**O**/*******O b 0 0 0 1",
    "**@@****/**OO****/*@O***** b 0 0 0 1",
    "*O****@*/***@@*O*/*****O** b 0 0 0 1",
)
WIN_IN_11 = "O*OO@***/*@*@O@O*/OO@O@@*O w 0 0 0 1"
"""A win in 11 plies, by another program's full search; the engine first finds a win in 13."""
TWO_WINS = "O*O*OOO*/@****@*@/@*****OO w 0 0 0 1"
"""Wins in 5 plies by a4-b4 and in 7 by a4-a1; the other program finds no third win within 13."""


def iterations(searcher: Searcher, text: str, limit: Limit, moves: str = "") -> list[Info]:
    """Return the reports of a search, after playing ``moves`` from the position."""
    infos = list[Info]()
    searcher.search(play_moves(parse_position(text, MORRIS), moves.split()), limit, infos.append)
    return infos


def win_in(info: Info) -> int | None:
    """Return the plies to a proven end, or None."""
    return info.score.relative.win_in if info.score else None


@pytest.mark.parametrize("is_late", [True, False])
def test_the_clock_is_asked_before_the_proof_of_the_shortest_win(is_late: bool) -> None:
    """After the soft limit, a win within the depth is played without a proof."""
    weights.ensure()
    position, clock, limit = parse_position(WIN_IN_11, MORRIS), Clock(), Limit(white_clock=1e6)
    clock.begin(limit, WHITE)
    assert clock.budget is not None
    asked = clock.asked - int(is_late * clock.budget.soft * 1.1e9)
    clock.begin(limit, WHITE, asked=asked)
    worker = core.SearchWorker(core.TranspositionTable(4))
    interrupted = worker.run(
        core_rules(MORRIS), core_board(position), [], core_moves(position),
        lambda depth, lines: lines[0][0] >= core.WIN - 11, max_depth=16, deadline=clock.deadline,
    )
    assert interrupted == is_late
    assert not is_late or worker.better and worker.better[0] >= core.PROVEN


@pytest.mark.parametrize("threads", [1, 2])
def test_a_win_within_the_completed_depth_is_the_shortest(threads: int) -> None:
    infos = iterations(Searcher(8, threads), WIN_IN_11, Limit(depth=16))
    for info in infos:
        plies = win_in(info)
        assert plies in (None, 11) or plies > (info.depth or 0)
    assert (win_in(infos[-1]), len(infos[-1].pv)) == (11, 11)


def test_a_loss_within_the_completed_depth_is_the_longest() -> None:
    infos = iterations(Searcher(8), WIN_IN_11, Limit(depth=14), "e4-f4")
    assert (win_in(infos[-1]), len(infos[-1].pv)) == (-10, 10)


def test_each_line_within_the_completed_depth_has_the_shortest_win() -> None:
    position, searcher = parse_position(TWO_WINS, MORRIS), Searcher(8)
    infos = list[Info]()
    searcher.search(position, Limit(depth=11), infos.append, multipv=2)
    best = [(str(info.pv[0]), win_in(info)) for info in infos[-2:]]
    assert best == [("a4-b4", 5), ("a4-a1", 7)]
    slower = [move for move in position.legal_moves() if str(move) != "a4-b4"]
    result = searcher.search(position, Limit(depth=11), root_moves=slower)
    assert (str(result.move), result.score.win_in) == ("a4-a1", 7)


REPEATED = "O*O*OOO*/@****@O@/@******O b 0 0 0 1"
REPEATING_MOVES = "d6-f6 b4-a4 f6-d6 a4-b4 d6-f6 b4-a4 f6-d6"
"""Moves from `REPEATED` to `TWO_WINS`, in which a4-b4 then draws by repetition."""


def test_a_shortest_win_does_not_repeat_a_position_of_the_game() -> None:
    searcher = Searcher(8)
    for _ in range(2):
        assert win_in(iterations(searcher, TWO_WINS, Limit(depth=9))[-1]) == 5
        assert win_in(iterations(searcher, REPEATED, Limit(depth=9), REPEATING_MOVES)[-1]) == 7


def proof_keys(position: Position) -> set[int]:
    """Return the keys of the proofs that a search stores: only in them, both sides' men overlap."""
    weights.ensure()
    table, rules, board = core.TranspositionTable(1), core_rules(MORRIS), core_board(position)
    core.SearchWorker(table).run(
        rules, board, core_history(position), core.legal_moves(rules, board),
        lambda depth, lines: False, max_depth=11,
    )  # fmt: skip
    entries = Entries(table)
    keys = {check ^ data for check, data in entries if data}
    return {key for key in keys if key & key >> 24 & 0xFFFFFF}


def test_a_proof_is_not_reused_where_other_positions_of_the_game_may_recur() -> None:
    fresh = parse_position(TWO_WINS, MORRIS)
    repeated = play_moves(parse_position(REPEATED, MORRIS), REPEATING_MOVES.split())
    assert proof_keys(fresh) and not proof_keys(fresh) & proof_keys(repeated)


@pytest.mark.parametrize("nodes", [130_000, 150_000, 200_000])
def test_a_win_is_played_although_a_limit_cuts_the_proof_that_it_is_the_shortest(
    nodes: int,
) -> None:
    infos = iterations(Searcher(8), WIN_IN_11, Limit(nodes=nodes))
    assert [(win_in(info), info.bound) for info in infos[-2:]] == [(None, ""), (13, "lower")]
    assert infos[-1].depth == 13 and infos[-1].nodes == nodes


@pytest.mark.parametrize("text", WON)
def test_a_proven_win_gets_shorter_with_every_ply(text: str) -> None:
    position = parse_position(text, MORRIS)
    searcher = Searcher(8)
    result = searcher.search(position, Limit(nodes=300_000))
    plies_left = result.score.win_in
    assert plies_left is not None and plies_left > 0
    winner = position.side
    while position.outcome() is None:
        assert plies_left and result.move is not None
        position = position.push(result.move)
        if position.outcome() is not None:
            break
        result = searcher.search(position, Limit(nodes=300_000))
        plies_before, plies_left = plies_left, result.score.win_in
        assert plies_left is not None and (plies_left > 0) == (position.side == winner)
        assert abs(plies_left) < abs(plies_before)
    outcome = position.outcome()
    assert outcome is not None and outcome.winner == winner


def test_a_proven_win_takes_no_more_of_the_clock() -> None:
    position = parse_position(WON[2], MORRIS)
    result = Searcher(8).search(position, Limit(white_clock=600.0, black_clock=600.0))
    assert result.score.win_in is not None
    assert (result.info.depth or 0) < 20, "the search continued although no win can be shorter"
