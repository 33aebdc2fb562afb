"""The searcher: limits, determinism, scores, draws and rules within the search."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Sequence
from queue import SimpleQueue

import pytest

from merels.engine.common.errors import InputError
from merels.engine.core import core
from merels.engine.game.notation import parse_move, parse_position, play_moves
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import parse_rules
from merels.engine.game.score import Score
from merels.engine.search.clock import Clock
from merels.engine.search.helpers import Helpers
from merels.engine.search.levels import LEVELS, level_for
from merels.engine.search.limits import Info, Limit, Result
from merels.engine.search.searcher import Searcher
from tests.engine.random_games import random_positions
from tests.kit.waiting import wait
from tests.processes import needs_proc

MORRIS = parse_rules("morris")


def fresh_search(
    position: Position, limit: Limit, multipv: int = 1, root_moves: Sequence[Move] = ()
) -> tuple[Result, list[Info]]:
    """Search with a new searcher; return its result and reports."""
    infos: list[Info] = []
    result = Searcher(4).search(
        position, limit, infos.append, multipv=multipv, root_moves=root_moves
    )
    return result, infos


def test_every_move_and_variation_is_legal() -> None:
    for position in random_positions(seed=11, number=600):
        result, infos = fresh_search(position, Limit(depth=3))
        assert infos
        if position.outcome() is not None:
            assert result.move is None
            continue
        assert result.move in position.legal_moves()
        for info in infos:
            at = position
            for move in info.pv:
                at = at.push(move)
        assert result.move == infos[-1].pv[0]


def test_node_limit_is_kept_and_deterministic() -> None:
    first, infos = fresh_search(Position(), Limit(nodes=50_000))
    again, infos_again = fresh_search(Position(), Limit(nodes=50_000))

    def without_times(infos: list[Info]) -> list[object]:
        return [(info.depth, info.score, info.pv, info.nodes) for info in infos]

    assert without_times(infos) == without_times(infos_again)
    assert first.move == again.move
    assert first.nodes == again.nodes and first.nodes <= 50_000


def test_an_unfinished_iteration_reports_a_better_move_with_a_lower_bound() -> None:
    bounds = 0
    for position in random_positions(seed=23, number=30):
        if position.outcome() is None:
            finished = fresh_search(position, Limit(depth=8))[1]
            limit = max(300, (finished[-1].nodes or 0) // 2)
            result, infos = fresh_search(position, Limit(nodes=limit))
            completed = [info for info in finished if (info.nodes or 0) <= limit][-1]
            assert result.move == infos[-1].pv[0]
            if result.interrupted:
                assert (result.info, infos[-1].depth) == (infos[-1], completed.depth)
            assert all(not info.bound for info in infos[:-1])
            assert result.info.bound == ("lower" if result.move != completed.pv[0] else "")
            bounds += result.info.bound == "lower"
    assert bounds


# Rules, position, depth, and a percentage of this iteration's nodes. After these nodes, a move that
# was better in the narrow aspiration window has proved worse in the wider window.
FALLEN_BACK = [
    ("loc", "@@@@*@@@/******O*/****OO*O w 0 0 0 16", 8, 50),
    ("loc", "@@@@@*@@/******O*/O***OO** w 0 0 2 17", 5, 50),
    ("mill", "OOO@*O@O/O*****O*/O**@**** b 1 0 0 9", 7, 50),
    ("mill", "OOO@*O@O/O*****OO/O****@** b 0 0 0 10", 5, 50),
    ("loc", "@O*@@@*O/****O***/**@*@@O* w 0 0 2 20", 5, 50),
    # In these rows the move's new value is inside the wider window, but not above the value that
    # the move had beaten in the narrow window.
    ("loc", "*****@**/********/******** w 4 3 0 2", 8, 85),
    ("mill", "@@*@O@@@/O*@**OOO/**@O**** w 0 0 1 11", 5, 70),
    ("roman", "*@@@*O*@/O@@**O**/***@***O w 0 0 2 18", 7, 85),
]


@pytest.mark.parametrize(("rules", "text", "depth", "percent"), FALLEN_BACK)
def test_a_move_that_fell_back_is_not_played_with_its_old_score(
    rules: str, text: str, depth: int, percent: int
) -> None:
    position = parse_position(text, parse_rules(rules))
    previous, complete = fresh_search(position, Limit(depth=depth))[1][-2:]
    start, end = previous.nodes or 0, complete.nodes or 0
    result, _ = fresh_search(position, Limit(nodes=start + (end - start) * percent // 100))
    assert result.interrupted and (result.move, result.score) == (
        previous.pv[0], previous.score and previous.score.relative)


def test_each_colour_has_its_own_history() -> None:
    def swapped(position: Position) -> Position:
        return Position.of(position.rules, position.men[::-1], position.hands[::-1],
                        1 - position.side, position.plies)

    def nodes(*positions: Position) -> int:
        searcher = Searcher(4)
        return [searcher.search(position, Limit(depth=8)).nodes for position in positions][-1]

    start = parse_position("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20", MORRIS)
    end = start.push(parse_move("e5-e4"))
    assert nodes(start, end) == nodes(swapped(start), swapped(end))
    assert nodes(start, end) != nodes(start, swapped(end)), "the colours share one history"


def begin(
    searcher: Searcher, position: Position, limit: Limit, clock: Clock, ponder: bool
) -> SimpleQueue[Result]:
    """Start an infinite or pondering search on a thread; return the queue for its result."""
    results: SimpleQueue[Result] = SimpleQueue()
    started = threading.Event()

    def run() -> None:
        results.put(searcher.search(
            position, limit, lambda info: started.set(), ponder=ponder, infinite=not ponder,
            clock=clock,
        ))

    threading.Thread(target=run, daemon=True).start()
    assert started.wait(60)
    return results


def test_an_infinite_search_ends_only_on_stop() -> None:
    ended: list[bool] = []

    class StoppedWhileWaiting(Clock):
        def wait(self) -> None:
            with self._changed:  # `stop` has to wait until this thread waits.
                threading.Thread(target=self.stop).start()
                super().wait()
                ended.append(self.stopped)

    won = parse_position("OO******/@@*@****/O*O***** w 0 0 0 1", MORRIS)
    result = Searcher(4).search(won, Limit(depth=1), infinite=True, clock=StoppedWhileWaiting())
    assert (result.info.depth, ended) == (1, [True])


@pytest.mark.parametrize(("moves", "asked_ago"), [(1, 0), (24, 10**13)])
def test_a_search_that_has_pondered_long_enough_ends_at_the_ponderhit(
    moves: int, asked_ago: int
) -> None:
    """It ends within the next iteration: with one move to choose, or after hours."""
    clock = Clock()

    def hit(info: Info) -> None:
        if info.depth == 4:
            clock.ponderhit()

    result = Searcher(4).search(
        Position(), Limit(white_clock=3600.0, depth=12), hit, ponder=True, clock=clock,
        root_moves=Position().legal_moves()[:moves], asked=core.monotonic_ns() - asked_ago,
    )
    assert result.info.depth == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_after_a_report_that_raises_the_next_search_works(threads: int) -> None:
    searcher = Searcher(4, threads)
    for infinite in (False, True):
        clock = Clock()

        def give_up(info: Info) -> None:
            clock.stop()
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            searcher.search(Position(), Limit(), give_up, infinite=infinite, clock=clock)
        assert searcher.search(Position(), Limit(depth=6)).info.depth == 6


def test_pondering_uses_the_whole_table_regardless_of_the_clock() -> None:
    """Pondering may last for as long as the opponent thinks."""
    limit = Limit(white_clock=1.0, black_clock=1.0)
    searcher, clock = Searcher(64), Clock()
    results = begin(searcher, Position(), limit, clock, ponder=True)
    clock.stop()
    results.get(timeout=60)
    assert searcher._table is not None and searcher._table.megabytes_in_use() == 64
    searcher.clear()
    searcher.search(Position(), limit)
    assert searcher._table.megabytes_in_use() < 64


def test_a_search_uses_only_the_part_of_the_table_that_it_can_fill() -> None:
    searcher, used = Searcher(64), list[int]()
    for nodes in (1000, 200_000, 1000, 300_000):
        searcher.search(Position(), Limit(nodes=nodes))
        assert searcher._table is not None
        used.append(searcher._table.megabytes_in_use())
    assert used == [1, 4, 4, 8]


def test_a_blocking_move_wins_or_draws_by_the_rules() -> None:
    blocking = parse_move("f6-f4")
    board = "********/OO****O*/@@@O*O@@ w 0 0 0 20"
    result, _ = fresh_search(parse_position(board, parse_rules("loc")), Limit(depth=6))
    assert (result.move, result.score.win_in) == (blocking, 1)
    draws = parse_position(board, parse_rules("loc Blocked=draws"))
    result, _ = fresh_search(draws, Limit(depth=6), root_moves=(blocking,))
    assert result.score.cp == 0


def test_draws_by_counting_are_scored_as_draws() -> None:
    quiet = parse_position("O*O*O***/*@*@*@*@/**O*O*** w 0 0 79 60", parse_rules("loc"))
    result, _ = fresh_search(quiet, Limit(depth=5))
    assert result.score.cp == 0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("O*O*****/*@***@**/**O**@** w 0 0 3 60", Score(win_in=1)),
        ("O****O**/*@***@**/**O**@** w 0 0 3 60", Score(cp=0)),
        ("O****O**/*@***@**/**O**@** w 0 0 0 60", Score(win_in=3)),
    ],
)
def test_three_against_three_is_a_draw_unless_won_in_time(text: str, score: Score) -> None:
    result, _ = fresh_search(parse_position(text, parse_rules("mill")), Limit(depth=4))
    assert result.score == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("O*O*O***/********/@*@***** w 0 0 0 60", Score(win_in=1)),
        ("O*O*****/********/@*@*@*** w 0 0 0 60", Score(win_in=0)),
        ("O*O*O***/*@*@*@*@/**O*O*** w 0 0 80 60", Score(cp=0)),
    ],
)
def test_a_game_that_is_over_is_reported_with_its_result(text: str, score: Score) -> None:
    result, [info] = fresh_search(parse_position(text, parse_rules("loc")), Limit(depth=4))
    assert result.move is None and info.score is not None and info.score.relative == score


def test_searchmoves_are_obeyed_and_multipv_lines_are_sorted() -> None:
    position = Position()
    wanted = tuple(position.legal_moves()[3:5])
    result, _ = fresh_search(position, Limit(depth=5), root_moves=wanted)
    assert result.move in wanted
    result, infos = fresh_search(position, Limit(depth=7), multipv=4)
    for depth in range(1, 8):
        lines = [info for info in infos if info.depth == depth]
        assert [info.multipv for info in lines] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in lines}) == 4
        values = [info.score and info.score.relative.cp or 0 for info in lines]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        # A move that repeats a position of the game is ranked lower than its score.
        ("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20", "e5-e4 b4-b2 e4-e5 b2-b4 e5-e4 b4-b2"),
        ("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20", "d7-d6 g4-g7 d6-d7 g7-g4 d7-d6 g4-g7"),
    ],
)
def test_the_scores_of_several_lines_fall_from_line_to_line(text: str, moves: str) -> None:
    position = play_moves(parse_position(text, MORRIS), moves.split())
    for lines in (2, 3, 6):
        result, infos = fresh_search(position, Limit(nodes=20_000), multipv=lines)
        reports: dict[int | None, list[int]] = {}
        for info in infos[: -1 if result.interrupted else None]:
            assert info.score is not None and info.score.relative.cp is not None
            reports.setdefault(info.depth, []).append(info.score.relative.cp)
        for depth, scores in reports.items():
            assert scores == sorted(scores, reverse=True), (depth, lines)


@pytest.mark.parametrize("limit", [
    Limit(white_clock=0, black_clock=0), Limit(time=0), Limit(time=0.001),
    Limit(nodes=1), Limit(depth=1), Limit(white_clock=0.005, white_inc=0.001, remaining_moves=1),
    Limit(mate=1, depth=4),
    Limit(nodes=1, time=10**9), Limit(nodes=10**18, depth=2), Limit(depth=10**18, nodes=1),
])
def test_every_limit_gives_a_move(limit: Limit) -> None:
    result, infos = fresh_search(Position(), limit)
    assert result.move in Position().legal_moves()
    assert (infos[-1].depth or 0) >= 1


def test_a_limit_of_one_node_plays_the_move_of_depth_1() -> None:
    """Limits apply from the second iteration on; the reported nodes include the first iteration."""
    for position in random_positions(seed=12, number=100):
        if position.outcome() is None:
            result, infos = fresh_search(position, Limit(nodes=1))
            shallow, _ = fresh_search(position, Limit(depth=1))
            assert result.move == shallow.move and {info.depth for info in infos} == {1}
            assert (result.info.nodes or 0) >= (shallow.info.nodes or 0) >= 1


def test_a_forced_move_on_a_clock_is_searched_one_ply() -> None:
    only = (Position().legal_moves()[0],)
    for limit, deepest in ((Limit(white_clock=1000.0), 1), (Limit(depth=3), 3)):
        assert fresh_search(Position(), limit, root_moves=only)[0].info.depth == deepest


def test_between_two_levels_strength_rises_with_the_rating() -> None:
    for low, high in zip(LEVELS, LEVELS[1:]):
        between = level_for((low.elo + high.elo) // 2)
        assert low.nodes < between.nodes < high.nodes
        assert low.oversight > between.oversight > high.oversight
        assert low.insight <= between.insight <= high.insight


def test_levels_rise_in_rating_and_keep_their_node_limits() -> None:
    assert [level.elo for level in LEVELS] == sorted({level.elo for level in LEVELS})
    assert level_for(0) == LEVELS[0] and level_for(9999) == LEVELS[-1]
    for level in LEVELS:
        assert level_for(level.elo) == level
        result = Searcher(4).search(Position(), Limit(), level=level)
        assert result.move is not None and result.nodes <= level.nodes + 700


def test_threads_share_the_node_limit_and_reach_a_depth() -> None:
    searcher = Searcher(4, threads=2)
    assert searcher.search(Position(), Limit(nodes=20_000)).nodes <= 21_000
    assert searcher.search(Position(), Limit(depth=8)).info.depth == 8


@pytest.mark.parametrize("sizes", [(0, 1), (-1, 1), (1, 0), (1, -3)])
def test_a_searcher_without_memory_or_threads_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="expected a whole number from 1"):
        Searcher(*sizes)
    with pytest.raises(ValueError, match="at least 1 MiB"):
        core.TranspositionTable(min(sizes))


def test_a_short_search_is_equal_in_tables_of_different_sizes() -> None:
    reports = []
    for megabytes in (16, 17, 64):
        searcher = Searcher(megabytes)
        infos: list[Info] = []
        searcher.search(Position(rules=MORRIS), Limit(nodes=1_000_000), infos.append)
        reports.append([(info.depth, info.score, info.nodes, info.pv) for info in infos])
    assert reports[0] == reports[1] == reports[2]


def test_a_search_reuses_the_results_of_the_last_search() -> None:
    position = parse_position("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20", MORRIS)
    searcher = Searcher(48)
    first = searcher.search(position, Limit(depth=10))
    assert searcher.search(position, Limit(depth=10)).nodes < first.nodes
    assert 0 < (first.info.hashfull or 0) < 100


def test_a_level_keeps_a_table_that_is_smaller_than_it_can_fill() -> None:
    """The strongest level can fill 9 MiB. A smaller table must not be cleared before each move."""
    position = parse_position("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20", MORRIS)
    searcher = Searcher(4)
    first = searcher.search(position, Limit(depth=10), level=LEVELS[-1])
    assert searcher.search(position, Limit(depth=10), level=LEVELS[-1]).nodes < first.nodes


def test_a_search_continues_without_threads_that_the_system_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start = threading.Thread.start
    threads_left = [2]

    def start_or_refuse(thread: threading.Thread) -> None:
        threads_left[0] -= 1
        if threads_left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    searcher = Searcher(4, threads=6)
    monkeypatch.setattr(threading.Thread, "start", start_or_refuse)
    result = searcher.search(Position(), Limit(depth=6))
    assert (result.missing, result.info.depth) == (3, 6)
    monkeypatch.undo()
    assert searcher.search(Position(), Limit(depth=6)).missing == 0


def test_helper_threads_serve_all_searches_and_end_with_their_searcher() -> None:
    def helpers() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name == "search helper"} - others

    others: set[threading.Thread] = set()
    gc.collect()
    others = helpers()
    searcher = Searcher(4, threads=3)
    searcher.search(Position(), Limit(depth=4))
    started = helpers()
    assert len(started) == 2
    for _ in range(3):
        searcher.search(Position(), Limit(depth=4))
    assert helpers() == started
    del searcher
    wait(lambda: not helpers(), 60, "the end of the helper threads")


def test_a_short_search_does_not_report_the_nodes_of_earlier_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searcher = Searcher(4, threads=3)
    searcher.search(Position(), Limit(nodes=30_000))
    # Helper threads that do not begin before the short search ends.
    monkeypatch.setattr(Helpers, "start", lambda helpers, calls: len(calls))
    alone = Searcher(4).search(Position(), Limit(depth=1)).nodes
    assert searcher.search(Position(), Limit(depth=1)).nodes <= alone


RESIDENT_SCRIPT = """
import os
from merels.engine.core import weights
from merels.engine.game.position import Position
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

weights.ensure()
baseline = resident()
searcher = Searcher(1024)
searcher.opening = False
searcher.prepare()
searcher.search(Position(), Limit(nodes=50_000))
searcher.clear()
print(resident() - baseline)
large = Searcher(64)
large.opening = False
large.search(Position(), Limit(depth=11))
print(resident() - baseline)
large.clear()
large.prepare()
print(resident() - baseline)
"""
"""Prints MiB of memory after a short search in a large table, a long search, and its clearing."""


@needs_proc
def test_a_search_touches_only_the_memory_that_it_uses() -> None:
    output = subprocess.check_output([sys.executable, "-c", RESIDENT_SCRIPT], text=True)
    short, long, cleared = map(int, output.split())
    assert short <= 16 and long >= 48 and cleared <= 24


def test_time_counts_from_the_request_of_a_search() -> None:
    infos: list[Info] = []
    a_second_ago = core.monotonic_ns() - 10**9
    result = Searcher(4).search(Position(), Limit(time=0.5), infos.append, asked=a_second_ago)
    assert (result.info.depth, result.interrupted) == (1, True)
    assert all((info.time or 0) >= 1 for info in infos)


# The side to move loses, except by a move to a position that then occurs for the third time.
THIRD_TIME = [
    ("O*O@****/****@***/**O*@*** w 0 0 0 1", "g4-d6 d2-c4 d6-g4 c4-d2 g4-d6 d2-c4 d6-g4", "c4-d2"),
    ("O@**@*O@/O*******/******** w 0 0 0 1", "d6-a1 e5-e4 a1-d6 e4-e5 d6-a1 e5-e4 a1-d6", "e4-e5"),
]


@pytest.mark.parametrize(("start", "moves", "saving_move"), THIRD_TIME)
def test_a_lost_side_saves_itself_by_repeating_a_position_of_the_game(
    start: str, moves: str, saving_move: str
) -> None:
    position = play_moves(parse_position(start, MORRIS), moves.split())
    result, _ = fresh_search(position, Limit(depth=8))
    assert (str(result.move), result.score) == (saving_move, Score(cp=0))
    fresh = Position.of(
        MORRIS, position.men, position.hands, position.side, position.plies, position.number
    )
    result, _ = fresh_search(fresh, Limit(depth=10))
    assert result.score.win_in is not None and result.score.win_in < 0


def test_a_repetition_ranks_after_moves_that_are_little_worse() -> None:
    start = parse_position("@@@@@O@*/**O*O***/*O*OOO@* w 0 0 3 13", MORRIS)
    position = play_moves(start, ["g7-d7", "c4-b4", "d7-g7"])
    fresh = Position.of(MORRIS, position.men, position.hands, position.side, position.plies)
    orders: list[list[tuple[str, int | None]]] = []
    for each in (fresh, position):
        _, infos = fresh_search(each, Limit(depth=1), multipv=3)
        orders.append([(str(info.pv[0]), info.score and info.score.relative.cp) for info in infos])
    by_value, repetition_later = orders
    assert [move for move, _ in by_value] == ["b4-c4", "d5-c5", "b4-b6"]
    second = by_value[1]
    lowered = by_value[0][0], second[1]
    assert repetition_later == [second, lowered, by_value[2]]


def test_a_search_fits_a_stack_of_128_kib() -> None:
    # Some C libraries give every thread a stack of this size.
    script = (
        "import threading\n"
        "from merels.engine import Limit, Searcher, parse_position\n"
        "from merels.engine.game.rules import parse_rules\n"
        "threading.stack_size(128 << 10)\n"
        "text = '*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20'\n"
        "position = parse_position(text, parse_rules('morris'))\n"
        "def search():\n"
        "    print(Searcher(1).search(position, Limit(nodes=300_000)).info.depth)\n"
        "thread = threading.Thread(target=search)\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 5, done


def test_an_interrupted_search_reports_all_its_nodes() -> None:
    finished = fresh_search(Position(), Limit(depth=7))[1]
    previous, complete = (info.nodes or 0 for info in finished[-2:])
    limit = (previous + complete) // 2
    result, infos = fresh_search(Position(), Limit(nodes=limit))
    assert result.interrupted and result.info == infos[-1]
    assert previous < result.nodes <= limit
