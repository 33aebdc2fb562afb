"""From clocks to budgets."""

from __future__ import annotations

from time import monotonic_ns

import pytest

from merels.engine.game.position import WHITE
from merels.engine.game.score import Score
from merels.engine.search.limits import Limits
from merels.engine.search.time_management import budget
from merels.engine.search.watch import MILLION, Watch


@pytest.mark.parametrize("left", [-1000, -1, 0, 1, 5, 10, 11, 20, 30, 31, 60, 100, 1000, 60_000])
@pytest.mark.parametrize("increment", [0, 2, 10, 1000])
@pytest.mark.parametrize("moves_to_go", [None, 1, 2, 40])
def test_a_budget_never_empties_the_clock(
    left: int, increment: int, moves_to_go: int | None
) -> None:
    overhead = 10
    plan = budget(left, increment, moves_to_go, overhead)
    assert 0 < plan.soft <= plan.hard
    assert plan.hard <= max(0.2, left - overhead)


def test_an_empty_clock_recovers_on_its_increment() -> None:
    left = 0.0
    for _ in range(100):
        left += 2 - 1 - budget(int(left), 2, None, 10).hard
    assert left > 10


def test_a_long_game_is_not_lost_on_time() -> None:
    left, lost_a_move = 200.0, 1.5
    for _ in range(300):
        left -= budget(int(left), 2, None, 10).hard + lost_a_move
        assert left > 0
        left += 2


@pytest.mark.parametrize(
    ("movetime", "hard"), [(1000, 990), (200, 190), (100, 95), (10, 10), (1, 1)]
)
def test_a_time_for_one_move_is_not_used_up(movetime: int, hard: int) -> None:
    watch = Watch(Limits(movetime=movetime), 10, WHITE)
    assert watch.arm() == watch.started + hard * MILLION


@pytest.mark.parametrize(
    ("spent", "moves", "enough"),
    [
        (0.3, [1, 2, 3], False), (0.5, [1, 2, 3], False), (1.0, [1, 2, 3], True),
        (0.3, [1, 1, 1, 1, 1, 1], False), (0.5, [1, 1, 1, 1, 1, 1], True),
    ],
)
def test_about_half_of_the_budget_is_the_point_to_stop_at(
    spent: float, moves: list[int], enough: bool
) -> None:
    """Later while the best move still changes, sooner once it is settled."""
    watch = Watch(Limits(time=(10**9, 10**9)), 10, WHITE)
    watch.arm()
    assert watch.soft is not None and watch.soft > 10**12
    watch.started = monotonic_ns() - int(spent * watch.soft)
    answers = [watch.enough(move, depth, Score(cp=0)) for depth, move in enumerate(moves, 1)]
    assert answers[-1] == enough


def test_a_short_increment_keeps_a_reserve_against_a_stall() -> None:
    left = 200.0
    for _ in range(300):
        left -= budget(int(left), 2, None, 10).soft + 0.3
        assert left > 40
        left += 2
