"""The player: limits, determinism, truthful scores, rules inside the search."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.core import core
from merels.engine.game.notation import START, parse_move, parse_position, play_moves
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import parse_rules
from merels.engine.game.score import Score
from merels.engine.search.levels import LEVELS, Level, level_for
from merels.engine.search.limits import Info, Limits, Result
from merels.engine.search.searcher import Searcher
from tests.engine.random_games import random_positions

MORRIS = parse_rules("morris")


def think(position: Position, limits: Limits, multipv: int = 1) -> tuple[Result, list[Info]]:
    infos: list[Info] = []
    result = Searcher(4).search(position, limits, infos.append, multipv=multipv)
    return result, infos


def test_every_move_and_pv_is_legal() -> None:
    for position in random_positions(seed=11, number=600):
        result, infos = think(position, Limits(depth=3))
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
    position = parse_position(START)
    first, infos = think(position, Limits(nodes=50_000))
    again, infos_again = think(position, Limits(nodes=50_000))

    def strip(lines: list[Info]) -> list[object]:
        return [(info.depth, info.score, info.pv, info.nodes) for info in lines]

    assert strip(infos) == strip(infos_again)
    assert first.move == again.move
    assert infos[-1].nodes <= 50_000


def test_a_new_game_starts_as_a_new_process() -> None:
    searcher = Searcher(4)
    position = parse_position(START)
    first = searcher.search(position, Limits(nodes=30_000))
    searcher.search(play_moves(position, ["d6", "f4"]), Limits(nodes=20_000))
    searcher.clear()
    again = searcher.search(position, Limits(nodes=30_000))
    assert (first.move, first.info.score, first.info.nodes) == (
        again.move, again.info.score, again.info.nodes)


class Search(threading.Thread):
    """A search that goes on while the test does, and holds up nothing if it never ends."""

    def __init__(self, searcher: Searcher, position: Position, limits: Limits) -> None:
        super().__init__(daemon=True)
        self.searcher, self.position, self.limits = searcher, position, limits
        self.result: Result | None = None
        self.begun = threading.Event()
        self.start()

    def run(self) -> None:
        """Search."""
        def begun(info: Info) -> None:
            self.begun.set()

        self.result = self.searcher.search(self.position, self.limits, begun)

    def end(self) -> Result:
        """The result, which must come soon."""
        self.join(60)
        assert self.result is not None, "the search goes on"
        return self.result


def test_stop_ends_an_infinite_search() -> None:
    searcher = Searcher(4)
    search = Search(searcher, parse_position(START), Limits(infinite=True))
    assert search.begun.wait(60)
    searcher.stop()
    assert search.end().move is not None
    # The stop was used up: the next search runs.
    assert searcher.search(parse_position(START), Limits(depth=4)).info.depth == 4


def test_infinite_never_ends_by_itself() -> None:
    searcher = Searcher(4)
    won = parse_position("OO******/@@*@****/O*O***** w 0 0 0 1", MORRIS)
    search = Search(searcher, won, Limits(depth=1, infinite=True))
    search.join(0.5)
    assert search.is_alive()
    searcher.stop()
    search.end()


def test_ponderhit_starts_the_clock() -> None:
    searcher = Searcher(4)
    search = Search(searcher, parse_position(START), Limits(ponder=True, movetime=50))
    search.join(0.3)
    assert search.is_alive()
    searcher.ponderhit()
    assert search.end().move is not None


def test_a_win_at_hand_is_seen_and_counted() -> None:
    # White closes d5-e5-c5 and takes the third last man.
    position = parse_position("*O*****O/O@*@*@**/******** w 0 0 0 1", MORRIS)
    result, _ = think(position, Limits(depth=5))
    assert result.info.score.win_in == 1
    assert result.info.score.own_moves == 1


def test_blocked_sides_and_their_draw() -> None:
    # f6-f4 shuts Black in.
    shutting = parse_move("f6-f4")
    board = "********/OO****O*/@@@O*O@@ w 0 0 0 20"
    result, _ = think(parse_position(board, parse_rules("loc")), Limits(depth=6))
    assert (result.move, result.info.score.win_in) == (shutting, 1)
    draws = parse_position(board, parse_rules("loc Blocked=draws"))
    result, _ = think(draws, Limits(depth=6, moves=(shutting,)))
    assert result.info.score.cp == 0


def test_draws_by_counting_are_scored_as_draws() -> None:
    quiet = parse_position("O*O*O***/*@*@*@*@/**O*O*** w 0 0 79 60", parse_rules("loc"))
    result, _ = think(quiet, Limits(depth=5))
    assert result.info.score.cp == 0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("O*O*****/*@***@**/**O**@** w 0 0 3 60", Score(win_in=1)),
        ("O****O**/*@***@**/**O**@** w 0 0 3 60", Score(cp=0)),
        ("O****O**/*@***@**/**O**@** w 0 0 0 60", Score(win_in=3)),
    ],
)
def test_three_against_three_is_a_draw_unless_won_in_time(text: str, score: Score) -> None:
    result, _ = think(parse_position(text, parse_rules("mill")), Limits(depth=4))
    assert result.info.score == score


def test_searchmoves_and_multipv() -> None:
    position = parse_position(START)
    wanted = tuple(position.legal_moves()[3:5])
    result, _ = think(position, Limits(depth=5, moves=wanted))
    assert result.move in wanted
    result, infos = think(position, Limits(depth=7), multipv=4)
    for depth in range(1, 8):
        lines = [info for info in infos if info.depth == depth]
        assert [info.multipv for info in lines] == [1, 2, 3, 4]
        assert len({info.pv[0] for info in lines}) == 4
        values = [info.score.cp or 0 for info in lines]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("limits", [
    Limits(time=(0, 0)), Limits(time=(-50, 10)), Limits(movetime=1), Limits(nodes=1),
    Limits(depth=1), Limits(time=(5, None), increment=(1, 0), moves_to_go=1),
    Limits(mate=1, depth=4),
    Limits(nodes=1, movetime=10**30), Limits(nodes=10**30, depth=2), Limits(depth=10**30, nodes=1),
    Limits(depth=-1), Limits(depth=0, nodes=5),
])
def test_every_limit_gives_a_move(limits: Limits) -> None:
    position = parse_position(START)
    result, infos = think(position, limits)
    assert result.move in position.legal_moves()
    assert infos[-1].depth >= 1


def test_a_forced_move_spends_no_clock() -> None:
    position = parse_position(START)
    only = (position.legal_moves()[0],)
    for limits, deepest in ((Limits(time=(10**6, 10**6)), 1), (Limits(depth=3), 3)):
        assert think(position, replace(limits, moves=only))[0].info.depth == deepest


def test_between_two_levels_strength_rises_with_the_rating() -> None:
    for low, high in zip(LEVELS, LEVELS[1:]):
        between = level_for((low.elo + high.elo) // 2)
        assert low.nodes < between.nodes < high.nodes
        assert low.noise > between.noise > high.noise


def test_levels_rise() -> None:
    assert [level.elo for level in LEVELS] == sorted({level.elo for level in LEVELS})
    assert level_for(0) == LEVELS[0] and level_for(9999) == LEVELS[-1]
    for level in LEVELS:
        assert level_for(level.elo) == level
        result = Searcher(4).search(parse_position(START), Limits(), level=level)
        assert result.move is not None and result.info.nodes <= level.nodes + 700


def test_a_level_errs_by_its_seed() -> None:
    searcher, position = Searcher(4), parse_position(START)

    def answers(level: Level) -> list[Move | None]:
        seeds = range(12)
        return [
            searcher.search(position, Limits(), level=replace(level, seed=seed)).move
            for seed in seeds
        ]

    beginner, champion = answers(LEVELS[0]), answers(LEVELS[-1])
    assert len(set(beginner)) > 3 and beginner == answers(LEVELS[0])
    assert len(set(champion)) == 1


def test_threads_share_the_node_limit() -> None:
    searcher = Searcher(4, threads=2)
    result = searcher.search(parse_position(START), Limits(nodes=20_000))
    assert result.info.nodes <= 21_000


def test_two_threads_answer() -> None:
    searcher = Searcher(4, threads=2)
    result = searcher.search(parse_position(START), Limits(depth=8))
    assert result.info.depth == 8


@pytest.mark.parametrize("sizes", [(0, 1), (-1, 1), (1, 0), (1, -3)])
def test_a_player_without_memory_or_threads_is_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1 MiB and 1 thread"):
        Searcher(*sizes)
    with pytest.raises(ValueError, match="at least 1 MiB"):
        core.TranspositionTable(min(sizes))


def test_threads_that_the_system_refuses_are_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    left = [2]

    def scarce(thread: threading.Thread) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    before = threading.active_count()
    searcher = Searcher(4, threads=6)
    monkeypatch.setattr(threading.Thread, "start", scarce)
    result = searcher.search(parse_position(START), Limits(depth=6))
    assert (result.missing, result.info.depth) == (3, 6)
    assert threading.active_count() == before, "none searches on"
    monkeypatch.undo()
    result = searcher.search(parse_position(START), Limits(depth=6))
    assert result.missing == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_taken_before_a_clock_runs() -> None:
    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20

    before = resident()
    searcher = Searcher(128)
    searcher.prepare()
    assert resident() - before >= 120
    more = resident()
    searcher.search(parse_position(START), Limits(nodes=50_000))
    assert resident() - more <= 8


# Whoever is to move has lost, but for a move that makes a position stand for the third time.
THIRD_TIME = [
    ("O*O@****/****@***/**O*@*** w 0 0 0 1", "g4-d6 d2-c4 d6-g4 c4-d2 g4-d6 d2-c4 d6-g4", "c4-d2"),
    ("O@**@*O@/O*******/******** w 0 0 0 1", "d6-a1 e5-e4 a1-d6 e4-e5 d6-a1 e5-e4 a1-d6", "e4-e5"),
]


@pytest.mark.parametrize(("start", "moves", "saving"), THIRD_TIME)
def test_a_lost_side_is_saved_by_the_games_own_repetition(
    start: str, moves: str, saving: str
) -> None:
    position = play_moves(parse_position(start, MORRIS), moves.split())
    result, _ = think(position, Limits(depth=8))
    assert (str(result.move), result.info.score) == (saving, Score(cp=0))
    fresh = Position(
        MORRIS, position.men, position.hands, position.side, position.plies, position.number
    )
    result, _ = think(fresh, Limits(depth=8))
    assert result.info.score.win_in is not None and result.info.score.win_in < 0
