"""Counts of finished games: engines that make no legal move."""

from __future__ import annotations

import pytest

from merels.tournament.journal.rows import make_row
from merels.tournament.journal.standings import HealthCounter, failure_warnings
from merels.tournament.records.games import MoveRecord, Overtime
from tests.tournament.specs import result

OPENED = (MoveRecord("d2", None, None, 1, 1, 1),)
"""White's move after the opening of `result`."""


def test_losses_through_delays_of_the_machine_are_no_failure() -> None:
    counter = HealthCounter()
    for number, delay in ((1, 5), (2, 5)):
        overtime = Overtime(9, 5, 0, delay, None)
        counter.add(make_row(result(
            number, "0-1", termination="time forfeit", cause="time", moves=(), overtime=overtime
        )))
    assert failure_warnings(counter.engines) == []


@pytest.mark.parametrize("moves", [(), OPENED])
def test_a_game_without_a_move_of_the_engine_does_not_end_its_streak(
    moves: tuple[MoveRecord, ...]
) -> None:
    counter = HealthCounter()
    crash = {"termination": "abandoned", "cause": "crash", "reason": "Black disconnects"}
    counter.add(make_row(result(1, "1-0", moves=OPENED, **crash)))
    counter.add(make_row(result(2, "1-0", termination="adjudication", cause="", moves=moves)))
    counter.add(make_row(result(3, "1-0", moves=OPENED, **crash)))
    assert failure_warnings(counter.engines) == [
        "B played no legal move in its last 2 games, from game 1 on; "
        "the reason was: Black disconnects"
    ]
