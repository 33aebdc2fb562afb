"""Clocks of engines: time left, overruns, and the values sent to engines."""

from __future__ import annotations

from merels.tournament.play.clock import Clock, overrun_text
from merels.tournament.records.games import TimeControl

MS = 1_000_000


def test_the_increment_comes_after_the_move_and_excuses_no_overrun() -> None:
    clock = Clock(TimeControl(time=100 * MS, increment=10 * MS))
    assert clock.spend(30 * MS) == 0
    assert clock.left == 80 * MS
    assert clock.spend(80 * MS + 1) == 1


def test_a_move_may_use_its_time_to_the_last_nanosecond() -> None:
    clock = Clock(TimeControl(time=100 * MS))
    assert clock.spend(100 * MS) == 0
    assert clock.left == 0
    assert clock.spend(1) == 1


def test_an_overrun_within_the_margin_becomes_a_debt() -> None:
    clock = Clock(TimeControl(time=100 * MS, increment=10 * MS, margin=20 * MS))
    assert clock.spend(120 * MS) == 0
    assert clock.left == -10 * MS
    assert clock.allowance == -10 * MS
    assert clock.spend(11 * MS) == 21 * MS


def test_a_new_time_control_begins_after_its_moves() -> None:
    clock = Clock(TimeControl(time=100 * MS, moves=2))
    assert clock.moves_to_go == 2
    clock.spend(60 * MS)
    assert (clock.moves_to_go, clock.left) == (1, 40 * MS)
    clock.spend(30 * MS)
    assert (clock.moves_to_go, clock.left) == (2, 110 * MS)


def test_time_per_move_does_not_accumulate() -> None:
    clock = Clock(TimeControl(per_move=50 * MS, margin=5 * MS))
    assert clock.spend(1) == 0
    assert clock.allowance == 50 * MS
    assert clock.spend(55 * MS) == 0
    assert clock.spend(56 * MS) == 6 * MS
    assert clock.left is None


def test_a_clock_without_limit_is_never_overrun() -> None:
    clock = Clock(TimeControl(nodes=5))
    assert clock.allowance is clock.sent is None
    assert clock.spend(1 << 60) == 0


def test_clocks_are_sent_in_whole_milliseconds_and_at_least_one() -> None:
    assert Clock(TimeControl(time=2 * MS - 1)).sent == 1
    assert Clock(TimeControl(time=5 * MS + 999_999)).sent == 5
    assert Clock(TimeControl(time=0)).sent == 1


def test_an_overrun_is_printed_rounded_up() -> None:
    assert overrun_text(1) == "1ms overrun"
    assert overrun_text(13 * MS) == "13ms overrun"
    assert overrun_text(13 * MS + 1) == "14ms overrun"
