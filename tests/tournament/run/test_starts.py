"""Engines that do not start: their games wait without a result until the engines start."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from merels.tournament.records.games import Adjudication, Entrant, PairTask
from merels.tournament.run import retries
from merels.tournament.run.plan import Plan
from merels.tournament.run.retries import Starts
from merels.tournament.run.tasks import Place
from merels.tournament.statistics.sprt import Sprt
from tests.kit.executor import Script
from tests.tournament.run.runs import Run, as_planned, script
from tests.tournament.specs import engine, planned_games, settings

FAILING_STARTS = """
with open(flag, "a") as file:
    file.write("x")
if {first} <= os.path.getsize(flag) <= {last}:
    sys.exit("no net file")
"""
"""Python code that counts the starts of an engine and ends some of them with an error."""
SHORT = Adjudication(max_moves=2)
NO_NET = "does not start (exit code 1: no net file)"


def failing(tmp_path: Path, first: int, last: int, name: str = "B") -> Entrant:
    """Return an engine that starts anew for every game; the starts ``first`` to ``last`` fail."""
    command = script(tmp_path, FAILING_STARTS.format(first=first, last=last))
    return replace(engine(name, command=command), restart=True)


def test_games_whose_engine_does_not_start_are_played_after_a_repair(tmp_path: Path) -> None:
    """The engine starts for two games only; a former version counted its other games as losses."""
    engines = (engine("A"), failing(tmp_path, 3, 9999))
    chosen = settings(rounds=2, engines=engines, adjudication=SHORT)
    run = Run(chosen, tmp_path / "j", workers=1)
    assert run.play() == "stuck"
    assert len(run.rows) == 2
    assert run.record.notices == [
        f"engine B {NO_NET}; its games wait, and it is tried again",
        f"engine B {NO_NET}: its games are left unplayed",
    ]
    starts = (tmp_path / "flag").stat().st_size - 2
    assert starts - retries.MAX_FAILURES in (0, 1), "one more start may have been in progress"
    run.journal.close()
    failing(tmp_path, 9999, 9999)
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "finished" and as_planned(resumed.rows, chosen)


def fails_at(*starts: int, engine: str = "B") -> Script:
    """Return a script in which an engine does not start at some of its starts, counted from 1."""
    count = itertools.count(1)

    def fault(place: Place, name: str) -> str:
        return NO_NET if name == engine and next(count) in starts else ""

    return Script(fault=fault)


NEVER = range(2, 9999)


def test_a_failed_start_is_retried_in_the_same_run() -> None:
    chosen = settings(rounds=3)
    run = Run(chosen, workers=1)
    assert run.play(fails_at(2, 3, 4)) == "finished" and as_planned(run.rows, chosen)
    assert run.record.ended == list(range(1, 7))
    assert [notice.rpartition("; ")[2] for notice in run.record.notices] == [
        "this worker gets no games for now", "its games wait, and it is tried again",
        "node (process 1): engine B starts again",
    ]


def test_games_of_other_engines_are_played_and_shown_in_order() -> None:
    """The pairs of A that wait are more than the runner submits at once."""
    chosen = settings(3, rounds=12)
    run = Run(chosen)
    assert run.play(fails_at(*NEVER, engine="A")) == "stuck"
    others = {game.number for game in planned_games(Plan(chosen))
              if "A" not in (game.white.name, game.black.name)}
    assert others <= set(run.journal.numbers())
    assert len(run.rows) <= len(others) + 2, "only the first start of A succeeds"
    assert run.record.ended == sorted(run.record.ended)


@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_a_round_paired_by_results_waits_for_missing_games_and_can_be_resumed(
    tmp_path: Path, form: str
) -> None:
    chosen = settings(4, rounds=2, format=form)
    run = Run(chosen, tmp_path / "j")
    assert run.play(fails_at(1, *NEVER, engine="D")) == "stuck"
    assert "D" not in {name for row in run.rows for name in (row.white, row.black)}
    assert {row.round for row in run.rows} == {1}
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "finished"
    assert {row.termination for row in resumed.rows} == {"normal"}


def test_an_sprt_continues_when_its_engine_starts_again() -> None:
    sprt = Sprt(-500, 500, 1e-9, 1e-9, "logistic")
    run = Run(settings(rounds=5, sprt=sprt), workers=1)
    assert run.play(fails_at(1, 2, 3)) == "finished" and len(run.rows) == 10


WORKER, SAME_NODE, OTHER_NODE = Place("node1", 1), Place("node1", 3), Place("node2", 2)
MISSING = "does not start (exit code 127: no such file)"
FAILURE = {"A": MISSING}


def pair_of_a_and_b() -> PairTask:
    return PairTask(tuple(planned_games(Plan(settings(rounds=1)))))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> float:
    """Stop the clock of the pauses, and return its time."""
    now = retries.monotonic()
    monkeypatch.setattr(retries, "monotonic", lambda: now)
    return now


def test_a_failed_start_is_the_fault_of_the_worker_if_the_engine_starts_elsewhere(
    clock: float
) -> None:
    starts = Starts(is_match=True)
    assert starts.succeed(["A", "B"], OTHER_NODE) == []
    assert starts.fail(FAILURE, WORKER) == [
        f"node1 (process 1): engine A {MISSING}; this worker gets no games for now"
    ]
    assert starts.left_out(pair_of_a_and_b()) == {WORKER} and starts.admit(pair_of_a_and_b())
    assert starts.fail(FAILURE, WORKER) == [], "reported only once"
    assert starts.succeed(["A", "B"], OTHER_NODE) == []
    assert starts.left_out(pair_of_a_and_b()) == {WORKER}
    assert starts.succeed(["A", "B"], WORKER) == ["node1 (process 1): engine A starts again"]
    assert starts.left_out(pair_of_a_and_b()) == frozenset()


def test_a_worker_is_left_out_for_a_while_only(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = Starts(is_match=False)
    starts.succeed(["A", "B"], OTHER_NODE)
    (notice,) = starts.fail(FAILURE, WORKER)
    assert notice.endswith("; this worker gets no games of A for now")
    monkeypatch.setattr(retries, "monotonic", lambda: clock + retries.MAX_PAUSE)
    assert starts.left_out(pair_of_a_and_b()) == frozenset()


def test_failed_starts_on_two_nodes_are_the_fault_of_the_engine(clock: float) -> None:
    starts = Starts(is_match=True)
    starts.succeed(["A", "B"], SAME_NODE)
    starts.fail(FAILURE, WORKER)
    starts.fail(FAILURE, SAME_NODE)
    assert starts.left_out(pair_of_a_and_b()) == {WORKER, SAME_NODE}
    assert starts.fail(FAILURE, OTHER_NODE) == [
        f"node2 (process 2): engine A {MISSING}; this worker gets no games for now",
        f"engine A {MISSING}; its games wait, and it is tried again",
    ]
    assert starts.left_out(pair_of_a_and_b()) == {WORKER, SAME_NODE, OTHER_NODE}
    assert not starts.admit(pair_of_a_and_b())


def test_a_second_failure_on_one_worker_counts_after_its_pause(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = Starts(is_match=True)
    assert len(starts.fail(FAILURE, WORKER)) == 1
    assert starts.fail(FAILURE, WORKER) == [], "its task was submitted before the pause"
    monkeypatch.setattr(retries, "monotonic", lambda: clock + retries.MAX_PAUSE)
    assert starts.fail(FAILURE, WORKER) == [
        f"engine A {MISSING}; its games wait, and it is tried again"
    ]
    assert not starts.admit(pair_of_a_and_b()) and starts.has_playable


def test_one_task_retries_an_engine_even_if_an_earlier_task_returns_meanwhile(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = Starts(is_match=True)
    first, second, retry = pair_of_a_and_b(), pair_of_a_and_b(), pair_of_a_and_b()
    assert starts.admit(first) and starts.admit(second)
    for returned, other, is_admitted in (
        (first, retry, True), (second, pair_of_a_and_b(), False), (retry, pair_of_a_and_b(), True)
    ):
        starts.task_returned(returned)
        starts.fail(FAILURE, None)
        clock += retries.MAX_PAUSE
        monkeypatch.setattr(retries, "monotonic", lambda: clock)
        assert starts.admit(other) == is_admitted
