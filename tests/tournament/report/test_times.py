"""Times of moves and games lost on time, in reports on journals."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from merels.engine.common.errors import InputError
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.journal.standings import TimeLosses
from merels.tournament.records.games import MoveRecord, Overtime, TimeControl
from merels.tournament.report.time_report import MoveTimes, add_times, times_table
from merels.tournament.statistics import times as times_module
from merels.tournament.statistics.times import Sample, Spread
from tests.tournament.specs import result

MS = 1_000_000
CLOCK = TimeControl(time=100 * MS, increment=10 * MS, margin=50 * MS)


def row(lost: Overtime | None = None) -> Row:
    """Return a game of A against B after two opening moves; A overruns twice within its margin."""
    moves = [
        MoveRecord("d2", 0, None, 1, 1, used * MS, left * MS, late * MS, waited and waited * MS)
        for used, left, late, waited in (
            (90, 20, 0, 3), (40, 70, 1, None), (25, 5, 2, 4), (30, 50, 0, 9), (10, 5, 7, 1)
        )
    ]
    outcome = "1-0" if lost is None else "0-1"
    return make_row(result(1, outcome, moves=tuple(moves), overtime=lost))


def test_an_overrun_is_the_time_beyond_the_clock_before_the_move() -> None:
    times: dict[str, MoveTimes] = {}
    add_times(times, row(), {"A": CLOCK, "B": CLOCK})
    white, black = (times[name] for name in "AB")
    assert [*white.used.values] == [90 * MS, 25 * MS, 10 * MS]
    assert [*white.overrun.values] == [5 * MS, 5 * MS]
    assert not black.overrun.values
    limits = {"A": TimeControl(per_move=20 * MS), "B": TimeControl(nodes=5)}
    untimed = row()._replace(clocks="- - - - -")
    times = {}
    add_times(times, untimed, limits)
    white, black = (times[name] for name in "AB")
    assert [*white.overrun.values] == [70 * MS, 5 * MS] and not black.overrun.values


def test_the_move_that_lost_on_time_is_counted() -> None:
    lost = Overtime(300 * MS, 290 * MS, 50 * MS, 1 * MS, None)
    times: dict[str, MoveTimes] = {}
    add_times(times, row(lost), {"A": CLOCK, "B": CLOCK})
    white = times["A"]
    assert white.used.values[-1] == 300 * MS and white.overrun.values[-1] == 290 * MS
    lines = times_table(times).text().splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["A", "used", "4", "25.00", "300.00", "300.00", "300.00"],
        ["A", "overrun", "3", "5.00", "290.00", "290.00", "290.00"],
    ]


def test_a_damaged_row_is_an_error_that_names_its_game() -> None:
    for damaged in (
        row()._replace(position="x"),
        row()._replace(overtime="1 2"), row()._replace(times="-9x"),
        row()._replace(times="1 1 1 1 99999999999999999999"),
    ):
        with pytest.raises(InputError, match="game 1.*the journal is damaged"):
            add_times({}, damaged, {"A": CLOCK, "B": CLOCK})


def spread(values: Sequence[int]) -> Spread:
    sample = Sample()
    sample.extend(values)
    return sample.spread()


def test_quantiles_are_measured_values() -> None:
    assert spread(range(1, 201)) == Spread(200, 100, 180, 198, 200)
    assert spread([7]) == Spread(1, 7, 7, 7, 7)
    assert spread([]) == Spread(0, 0, 0, 0, 0)


def test_a_sample_is_bounded_and_keeps_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a former version, reports kept the times of all moves of a million games."""
    monkeypatch.setattr(times_module, "TOTAL_KEPT", 1 << 12)
    monkeypatch.setattr(times_module, "LEAST_KEPT", 1 << 12)
    chance = random.Random(1)
    sample = Sample()
    times = [chance.randrange(1_000_000) for _ in range(200_000)]
    for start in range(0, 200_000, 50):
        sample.extend(times[start : start + 50])
    assert len(sample.values) <= 1 << 12
    spread = sample.spread()
    assert (spread.moves, spread.longest) == (200_000, max(times))
    for figure, share in ((spread.median, 0.5), (spread.p90, 0.9), (spread.p99, 0.99)):
        assert figure / 1_000_000 == pytest.approx(share, abs=0.03)


def test_games_lost_on_time_are_counted_by_cause() -> None:
    losses = TimeLosses()
    assert losses.lines() == []
    for _ in range(7):
        losses.add(row())
    assert losses.lines() == []
    for delays in ((5, None), (2, 2), (None, None)):
        losses.add(row(Overtime(9, 5, 0, *delays)))
    assert losses.lines() == [
        "Time losses through delays by the runner or the machine: 1 of 10 games (10.0%)",
        "Against such losses: a lower -concurrency, timemargin=MS, -use-affinity",
        "Other time losses: 2 of 10 games (20.0%)",
    ]
