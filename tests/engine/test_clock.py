"""From clocks to budgets."""

from __future__ import annotations

import pytest

from merels.engine.clock import budget


@pytest.mark.parametrize("left", [-1000, -1, 0, 1, 5, 10, 11, 20, 30, 31, 60, 100, 1000, 60_000])
@pytest.mark.parametrize("increment", [0, 2, 10, 1000])
@pytest.mark.parametrize("moves_to_go", [None, 1, 2, 40])
def test_a_budget_never_empties_the_clock(left: int, increment: int, moves_to_go: int | None) -> None:
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
    left, lost_a_turn = 200.0, 1.5
    for _ in range(300):
        left -= budget(int(left), 2, None, 10).hard + lost_a_turn
        assert left > 0
        left += 2


def test_a_short_increment_keeps_a_reserve_against_a_stall() -> None:
    left = 200.0
    for _ in range(300):
        left -= budget(int(left), 2, None, 10).soft + 0.3
        assert left > 40
        left += 2
