"""The times of moves as reports show them, from the rows of journals."""

from __future__ import annotations

import pytest

from merels.engine.game.errors import InputError
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.records.games import MoveRecord, Overtime, TimeControl
from merels.tournament.report.times import MoveTimes, TimeLosses, add_times, times_table
from merels.tournament.statistics.times import Spread, spread
from tests.tournament.specs import result

MS = 1_000_000
CLOCK = TimeControl(time=100 * MS, increment=10 * MS, margin=50 * MS)


def row(lost: Overtime | None = None) -> Row:
    """A game of A against B, whose opening has two moves; A overruns within its margin twice."""
    moves = [
        MoveRecord("d2", 0, None, 1, 1, used * MS, left * MS, late * MS, waited and waited * MS)
        for used, left, late, waited in (
            (90, 20, 0, 3), (40, 70, 1, None), (25, 5, 2, 4), (30, 50, 0, 9), (10, 5, 7, 1)
        )
    ]
    outcome = "1-0" if lost is None else "0-1"
    return make_row(result(1, outcome, moves=tuple(moves), overtime=lost))


def test_an_overrun_is_what_a_move_took_longer_than_the_clock_before_it_showed() -> None:
    times: dict[str, MoveTimes] = {}
    add_times(times, row(), {"A": CLOCK, "B": CLOCK})
    assert times["A"].used == [90 * MS, 25 * MS, 10 * MS]
    assert times["A"].overrun == [5 * MS, 5 * MS]
    assert times["A"].late == [0, 2 * MS, 7 * MS] and times["B"].waited == [9 * MS]
    assert times["B"].overrun == []
    limits = {"A": TimeControl(per_move=20 * MS), "B": TimeControl(nodes=5)}
    untimed = row()._replace(clocks="- - - - -", late="", waited="")
    times = {}
    add_times(times, untimed, limits)
    assert times["A"].overrun == [70 * MS, 5 * MS] and times["B"].overrun == []
    assert times["A"].late == times["A"].waited == []


def test_the_move_that_lost_on_time_counts() -> None:
    lost = Overtime(300 * MS, 290 * MS, 50 * MS, 1 * MS, None)
    times: dict[str, MoveTimes] = {}
    add_times(times, row(lost), {"A": CLOCK, "B": CLOCK})
    assert times["A"].used[-1] == 300 * MS and times["A"].overrun[-1] == 290 * MS
    assert times["A"].late[-1] == MS and len(times["A"].waited) == 3
    lines = times_table(times).splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["A", "used", "4", "25.00", "300.00", "300.00", "300.00"],
        ["A", "runner", "late", "4", "1.00", "7.00", "7.00", "7.00"],
    ]


def test_a_damaged_row_is_named() -> None:
    for damaged in (
        row()._replace(position="x"), row()._replace(late="z z z z z"),
        row()._replace(overtime="1 2"), row()._replace(times="-9x"),
    ):
        with pytest.raises(InputError, match="game 1.*the journal is damaged"):
            add_times({}, damaged, {"A": CLOCK, "B": CLOCK})


def test_quantiles_are_measurements() -> None:
    assert spread(range(1, 201)) == Spread(200, 100, 180, 198, 200)
    assert spread([7]) == Spread(1, 7, 7, 7, 7)
    assert spread([]) == Spread(0, 0, 0, 0, 0)


def test_games_lost_on_time_are_counted_by_cause() -> None:
    losses = TimeLosses(10)
    assert losses.lines() == []
    losses.add(None, 0)
    assert losses.lines() == []
    for lost, voided in (
        (None, 2), (Overtime(9, 5, 0, 5, None), 3), (Overtime(9, 5, 0, 2, 2), 0),
        (Overtime(9, 5, 0, None, None), 1),
    ):
        losses.add(lost, voided)
    assert losses.lines() == [
        "Time losses through delays by the runner or the machine: 3 of 10 games (30.0%); 1 stands",
        "Against such losses: a lower -concurrency, timemargin=MS, -use-affinity; -replays N plays "
        "such games again",
        "Other time losses: 2 of 10 games (20.0%)",
    ]
