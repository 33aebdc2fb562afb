"""The clock of a search: budgets, signals before and after the search begins, and its end."""

from __future__ import annotations

import subprocess
import sys

import pytest

from merels.engine.core import core
from merels.engine.game.position import BLACK, WHITE
from merels.engine.game.score import Score
from merels.engine.search.clock import Clock, budget
from merels.engine.search.limits import Limit

OVERHEAD = 0.01
LONG_AGO = core.monotonic_ns() - 10**12


def started(
    limit: Limit, side: int = WHITE, overhead: float = 0.0, *, ponder: bool = False,
    asked: int | None = None,
) -> Clock:
    """Return the clock of a search that has started."""
    clock = Clock()
    clock.begin(limit, side, overhead, ponder=ponder, asked=asked)
    return clock


def is_due(clock: Clock) -> bool:
    """Return whether the search must end now."""
    end = clock.end_time(None if clock.budget is None else clock.budget.hard)
    return end is not None and core.monotonic_ns() >= end


@pytest.mark.parametrize("left", [-1000, -1, 0, 1, 5, 10, 11, 20, 30, 31, 60, 100, 1000, 60_000])
@pytest.mark.parametrize("increment", [0, 2, 10, 1000])
@pytest.mark.parametrize("remaining_moves", [None, 1, 2, 40])
def test_a_budget_never_empties_the_clock(
    left: int, increment: int, remaining_moves: int | None
) -> None:
    plan = budget(left / 1000, increment / 1000, remaining_moves, OVERHEAD)
    assert 0 < plan.soft <= plan.hard
    assert plan.hard <= max(0.0002, left / 1000 - OVERHEAD + 1e-9)


def test_an_empty_clock_recovers_on_its_increment() -> None:
    left = 0.0
    for _ in range(100):
        left += 0.002 - 0.001 - budget(left, 0.002, None, OVERHEAD).hard
    assert left > 0.01


def test_a_long_game_is_not_lost_on_time() -> None:
    left, lost_each_move = 0.2, 0.0015
    for _ in range(300):
        left -= budget(left, 0.002, None, OVERHEAD).hard + lost_each_move
        assert left > 0
        left += 0.002


def test_a_short_increment_keeps_a_reserve_against_a_stall() -> None:
    left = 0.2
    for _ in range(300):
        left -= budget(left, 0.002, None, OVERHEAD).soft + 0.0003
        assert left > 0.04
        left += 0.002


@pytest.mark.parametrize(
    ("time", "hard"), [(1.0, 0.99), (0.1, 0.09), (0.02, 0.01), (0.01, 0.005), (0.001, 0.001)]
)
def test_a_fixed_time_for_a_move_keeps_a_reserve(time: float, hard: float) -> None:
    clock = started(Limit(time=time), overhead=OVERHEAD)
    assert clock.end_time(None) == pytest.approx(clock.asked + hard * 1e9, rel=0, abs=10)


@pytest.mark.parametrize(
    ("spent", "moves", "enough"),
    [
        (0.3, [1, 2, 3], False), (0.5, [1, 2, 3], False), (1.0, [1, 2, 3], True),
        (0.3, [1, 1, 1, 1, 1, 1], False), (0.5, [1, 1, 1, 1, 1, 1], True),
    ],
)
def test_a_search_stops_before_its_soft_limit_and_sooner_if_the_best_move_is_stable(
    spent: float, moves: list[int], enough: bool
) -> None:
    clock = started(Limit(white_clock=1e6), overhead=OVERHEAD)
    assert clock.budget is not None and clock.budget.soft > 1000
    clock.asked = core.monotonic_ns() - int(spent * clock.budget.soft * 1e9)
    answers = [clock.enough(move, depth, Score(cp=0)) for depth, move in enumerate(moves, 1)]
    assert answers[-1] == enough


SHIFTED_CLOCK_SCRIPT = """
import sys, time
real, shift = time.monotonic_ns, int(float(sys.argv[1]) * 1e9)
time.monotonic_ns = lambda: real() + shift
time.monotonic = lambda: time.monotonic_ns() / 1e9
from merels.engine import Limit, Position, Searcher

searcher = Searcher(1)
print(searcher.search(Position(), Limit(depth=4, time=60)).info.depth)
print(searcher.search(Position(), Limit(depth=4, white_clock=3600, remaining_moves=1)).info.depth)
searcher.search(Position(), Limit(time=0.05))
"""


@pytest.mark.parametrize("shift", ["-1000", "1000"])
def test_a_timed_search_reads_one_clock(shift: str) -> None:
    """Python's monotonic clock may differ from the core's: on Windows, and on macOS after sleep."""
    done = subprocess.run(
        [sys.executable, "-c", SHIFTED_CLOCK_SCRIPT, shift],
        capture_output=True, text=True, timeout=60,
    )
    assert (done.stdout.split(), done.stderr) == (["4", "4"], "")


@pytest.mark.parametrize("field", ["clock", "inc"])
def test_each_side_budgets_with_its_own_clock_and_increment(field: str) -> None:
    def soft(side: int, white: float, black: float) -> float:
        times = {"white_clock": 9.0, "black_clock": 9.0, "white_inc": 0.0, "black_inc": 0.0}
        limit = Limit(**{**times, f"white_{field}": white, f"black_{field}": black})
        plan = started(limit, side, OVERHEAD).budget
        assert plan is not None
        return plan.soft

    assert soft(BLACK, 1.0, 4.0) == soft(WHITE, 4.0, 1.0) > soft(BLACK, 4.0, 1.0)


def test_a_search_is_due_once_it_is_stopped_or_its_time_is_over() -> None:
    clock = Clock()
    assert not is_due(clock), "no search has started"
    clock.begin(Limit(), WHITE)
    assert not is_due(clock), "the search has no time limit"
    clock.stop()
    assert is_due(clock)
    for seconds, due in ((1.0, True), (10_000.0, False)):
        assert is_due(started(Limit(time=seconds), asked=LONG_AGO)) == due


@pytest.mark.parametrize("is_early", [True, False])
def test_a_stop_counts_before_and_after_the_search_begins(is_early: bool) -> None:
    clock = Clock()
    for step in (clock.stop, lambda: clock.begin(Limit(), WHITE))[:: 1 if is_early else -1]:
        step()
    assert is_due(clock) and clock.stopped
    clock.wait()


@pytest.mark.parametrize("is_early", [True, False])
def test_the_time_of_a_pondering_search_counts_from_the_ponderhit(is_early: bool) -> None:
    for hit, due in ((LONG_AGO, True), (core.monotonic_ns() + 10**12, False)):
        clock = Clock()
        if is_early:
            clock.ponderhit(hit)
        clock.begin(Limit(time=1.0), WHITE, ponder=True, asked=LONG_AGO)
        if not is_early:
            assert not is_due(clock) and clock.waits
            clock.ponderhit(hit)
        assert (is_due(clock), clock.waits) == (due, False)
        assert clock.end_time(None) == hit + 10**9
        clock.wait()


def test_a_ponderhit_does_not_change_a_search_that_does_not_ponder() -> None:
    clock = started(Limit(time=1.0), asked=LONG_AGO)
    clock.ponderhit()
    assert clock.end_time(None) == LONG_AGO + 10**9


def pondering_on_a_clock(seconds: int) -> Clock:
    """Return the clock of a search that has pondered for this time, with an hour left."""
    asked = core.monotonic_ns() - seconds * 10**9
    return started(Limit(white_clock=3600.0), ponder=True, asked=asked)


@pytest.mark.parametrize(
    ("seconds", "score", "is_over"),
    [(1000, Score(cp=0), True), (0, Score(cp=0), False), (0, Score(win_in=3), True)],
)
def test_a_pondering_search_that_would_have_stopped_ends_at_the_ponderhit(
    seconds: int, score: Score, is_over: bool
) -> None:
    clock = pondering_on_a_clock(seconds)
    assert not clock.enough(1, 4, score) and not is_due(clock)
    clock.ponderhit()
    assert is_due(clock) == is_over
    assert clock.enough(1, 5, Score(cp=0)) == is_over


def test_a_ponderhit_during_a_long_iteration_ends_a_search_whose_time_has_passed() -> None:
    """Without pondering, the clock would have interrupted the iteration."""
    clock = pondering_on_a_clock(1000)
    assert not is_due(clock)
    clock.ponderhit()
    assert is_due(clock)
