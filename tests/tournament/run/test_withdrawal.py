"""Which engines are withdrawn: those that did not start, whatever the reasons of games say."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.tournament.records.games import GameResult
from merels.tournament.run.tasks import finished
from merels.tournament.run.withdrawal import FAILED_STARTS, Withdrawals
from merels.tournament.statistics.sprt import Sprt
from tests.tournament.run.test_runner import Run, Stopping, script
from tests.tournament.specs import engine, result, settings

pytestmark = pytest.mark.thorough


def lost(number: int, **fields: object) -> GameResult:
    """A game that A, White, lost without a move."""
    return result(number, "0-1", termination="abandoned", moves=(), **fields)


@pytest.mark.quick
def test_three_failed_starts_in_a_row_withdraw_an_engine() -> None:
    withdrawals = Withdrawals()
    withdrawn = [
        name
        for number in range(1, FAILED_STARTS + 2)
        for name in withdrawals.add(finished(lost(number, reason="any", unstarted=(0,))))
    ]
    assert withdrawn == ["A"]
    assert [r.result for r in withdrawals.forfeits([result(9).spec])] == ["0-1"]
    assert withdrawals.add(finished(result(FAILED_STARTS + 2))) == [], "it was in progress"
    assert withdrawals.out == {"A"}


@pytest.mark.quick
def test_a_game_played_in_between_starts_the_count_anew() -> None:
    withdrawals = Withdrawals()
    for number in range(1, 2 * FAILED_STARTS):
        failed = number % FAILED_STARTS != 0
        game = lost(number, unstarted=(0,)) if failed else result(number)
        assert withdrawals.add(finished(game)) == []


@pytest.mark.quick
def test_the_words_of_a_reason_decide_nothing() -> None:
    withdrawals = Withdrawals()
    for number in range(1, 10):
        assert withdrawals.add(finished(lost(number, reason="White does not start (x)"))) == []
    assert withdrawals.forfeits([result(11).spec]) == []


ENGINES = (engine("A"), engine("B", command=("/no/such",)))
"""The second of them is not there."""


def test_a_test_without_an_opponent_stops_and_decides_nothing() -> None:
    run = Run(settings(rounds=500, sprt=Sprt(0, 50, model="logistic"), engines=ENGINES))
    assert run.play() == "stuck" and run.board.verdict is None
    assert FAILED_STARTS <= len(run.rows) <= FAILED_STARTS + 2
    assert {row.reason.split(" (")[0][6:] for row in run.rows} == {"does not start"}
    assert run.record.notices == ["B is withdrawn: it failed to start 3 times in a row"]


def test_a_match_without_a_test_is_played_to_its_end() -> None:
    run = Run(settings(rounds=50, engines=ENGINES))
    assert run.play() == "finished"
    assert len(run.rows) == 100 and run.record.notices == [
        "B is withdrawn: it failed to start 3 times in a row; its remaining games are recorded as "
        "lost"
    ]
    assert sum(row.reason.endswith("was withdrawn") for row in run.rows) >= 90


def test_a_run_of_forfeits_can_be_interrupted() -> None:
    run = Run(settings(rounds=10_000, engines=ENGINES))
    run.board.views.append(Stopping(run.runner, 50))
    assert run.play() == "killed"
    assert 50 <= len(run.rows) < 20_000


def test_an_engine_that_starts_in_the_end_plays_the_rest_when_resumed(tmp_path: Path) -> None:
    command = script(tmp_path, """
with open(flag, "a") as file:
    file.write("x")
if os.path.getsize(flag) <= 3:
    sys.exit(1)
""")
    sprt = Sprt(-500, 500, 1e-9, 1e-9, "logistic")
    chosen = settings(rounds=5, sprt=sprt, engines=(engine("A"), engine("B", command=command)))
    run = Run(chosen, tmp_path / "j", workers=1)
    assert run.play() == "stuck" and len(run.rows) == 3
    run.journal.close()
    again = Run(chosen, tmp_path / "j")
    assert again.play() == "finished"
    assert [row.termination for row in again.rows] == ["abandoned"] * 3 + ["normal"] * 7
