"""Clocks, in nanoseconds."""

from __future__ import annotations

from merels.tournament.play.clock import Clock, overrun_text
from merels.tournament.records.games import TimeControl

MS = 1_000_000


def test_the_increment_is_added_after_the_move_and_saves_none_that_was_late() -> None:
    clock = Clock(TimeControl(time=100 * MS, increment=10 * MS))
    assert clock.spend(30 * MS) == 0
    assert clock.left == 80 * MS
    assert clock.spend(80 * MS + 1) == 1


def test_a_move_may_use_its_time_to_the_last_nanosecond() -> None:
    clock = Clock(TimeControl(time=100 * MS))
    assert clock.spend(100 * MS) == 0
    assert clock.left == 0
    assert clock.spend(1) == 1


def test_an_overrun_within_the_margin_is_kept_as_a_debt() -> None:
    clock = Clock(TimeControl(time=100 * MS, increment=10 * MS, margin=20 * MS))
    assert clock.spend(120 * MS) == 0
    assert clock.left == -10 * MS
    assert clock.allowance() == -10 * MS
    assert clock.spend(11 * MS) == 21 * MS


def test_a_new_time_control_begins_after_its_moves() -> None:
    clock = Clock(TimeControl(time=100 * MS, moves=2))
    assert clock.moves_to_go == 2
    clock.spend(60 * MS)
    assert (clock.moves_to_go, clock.left) == (1, 40 * MS)
    clock.spend(30 * MS)
    assert (clock.moves_to_go, clock.left) == (2, 110 * MS)


def test_time_for_each_move_is_not_saved_up() -> None:
    clock = Clock(TimeControl(per_move=50 * MS, margin=5 * MS))
    assert clock.spend(1) == 0
    assert clock.allowance() == 50 * MS
    assert clock.spend(55 * MS) == 0
    assert clock.spend(56 * MS) == 6 * MS
    assert clock.left is None


def test_no_limit_is_never_overrun() -> None:
    clock = Clock(TimeControl(nodes=5))
    assert clock.allowance() is clock.told is None
    assert clock.spend(1 << 60) == 0


def test_engines_are_told_whole_milliseconds_rounded_down_and_never_none_left() -> None:
    assert Clock(TimeControl(time=2 * MS - 1)).told == 1
    assert Clock(TimeControl(time=5 * MS + 999_999)).told == 5
    assert Clock(TimeControl(time=0)).told == 1


def test_an_overrun_is_told_rounded_up() -> None:
    assert overrun_text(1) == "1ms overrun"
    assert overrun_text(13 * MS) == "13ms overrun"
    assert overrun_text(13 * MS + 1) == "14ms overrun"
