"""Engines that do not start: their games wait without a result until the engines start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merels.tournament.records.games import Entrant, PairTask
from merels.tournament.run import retries
from merels.tournament.run.retries import Starts
from merels.tournament.run.tasks import Place
from merels.tournament.statistics.sprt import Sprt
from tests.tournament.run.test_runner import Run, as_planned, planned, script
from tests.tournament.specs import engine, settings

pytestmark = pytest.mark.thorough

FAILS = """
with open(flag, "a") as file:
    file.write("x")
if {first} <= os.path.getsize(flag) <= {last}:
    sys.exit("no net file")
"""
WORDS = "does not start (exit code 1: no net file)"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries."""
    monkeypatch.setattr(retries, "PAUSE_SECONDS", 0.05)


def failing(tmp_path: Path, first: int, last: int, name: str = "B") -> Entrant:
    """Return an engine that is started for every game; the starts ``first`` to ``last`` fail."""
    command = script(tmp_path, FAILS.format(first=first, last=last))
    return replace(engine(name, command=command), restart=True)


@pytest.mark.quick
def test_failed_starts_are_no_losses_and_are_played_after_a_repair(tmp_path: Path) -> None:
    """The engine starts for two games only; a former version counted the other games as lost."""
    chosen = settings(rounds=4, engines=(engine("A"), failing(tmp_path, 3, 9999)))
    run = Run(chosen, tmp_path / "j", workers=1)
    assert run.play() == "stuck"
    assert [row.termination for row in run.rows] == ["normal"] * 2
    assert run.record.notices == [
        f"engine B {WORDS}; its games wait, and it is tried again",
        f"engine B {WORDS}: its games are left unplayed",
    ]
    starts = (tmp_path / "flag").stat().st_size - 2
    assert starts - retries.TRIES in (0, 1), "one more start may have been in progress"
    run.journal.close()
    failing(tmp_path, 9999, 9999)
    again = Run(chosen, tmp_path / "j")
    assert again.play() == "finished" and as_planned(again.rows, chosen)
    assert {row.termination for row in again.rows} == {"normal"}


def test_a_failed_start_is_retried_in_the_same_run(tmp_path: Path) -> None:
    chosen = settings(rounds=3, engines=(engine("A"), failing(tmp_path, 3, 5)))
    run = Run(chosen, workers=1)
    assert run.play() == "finished" and as_planned(run.rows, chosen)
    assert run.record.ended == list(range(1, 7))
    assert run.record.notices == [
        f"engine B {WORDS}; its games wait, and it is tried again", "engine B starts again",
    ]


def test_other_engines_continue_and_play_first(tmp_path: Path) -> None:
    """There are more pairs than the window; games are shown in order after A is given up."""
    engines = (failing(tmp_path, 2, 9999, "A"), engine("B"), engine("C"))
    chosen = settings(rounds=12, engines=engines)
    run = Run(chosen)
    assert run.play() == "stuck"
    numbers = [game.number for game in planned(chosen)
               if "A" not in (game.white.name, game.black.name)]
    assert set(numbers) <= set(run.journal.numbers())
    assert len(run.rows) <= len(numbers) + 1
    assert run.record.ended == sorted(run.record.ended)


@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_rounds_paired_by_results_wait_for_them_and_can_be_resumed(
    tmp_path: Path, form: str
) -> None:
    engines = (engine("A"), engine("B", 40), engine("C", 50), failing(tmp_path, 1, 9999, "D"))
    chosen = settings(rounds=2, format=form, engines=engines)
    run = Run(chosen, tmp_path / "j")
    assert run.play() == "stuck"
    assert "D" not in {name for row in run.rows for name in (row.white, row.black)}
    assert {row.round for row in run.rows} == {1}
    run.journal.close()
    failing(tmp_path, 9999, 9999)
    again = Run(chosen, tmp_path / "j")
    assert again.play() == "finished"
    assert {row.termination for row in again.rows} == {"normal"}


def test_an_sprt_continues_when_its_engine_starts_again(tmp_path: Path) -> None:
    sprt = Sprt(-500, 500, 1e-9, 1e-9, "logistic")
    chosen = settings(rounds=5, sprt=sprt, engines=(engine("A"), failing(tmp_path, 1, 3)))
    run = Run(chosen, workers=1)
    assert run.play() == "finished" and len(run.rows) == 10


A, B = "A", "B"
HERE, THERE, NEAR = Place("node1", 1), Place("node2", 2), Place("node1", 3)
WHY = {A: "does not start (exit code 127: no such file)"}


def task() -> PairTask:
    """Return a game pair of A and B."""
    return PairTask(tuple(planned(settings(rounds=1))))


@pytest.mark.quick
def test_a_failed_start_is_the_fault_of_the_worker_if_the_engine_starts_elsewhere() -> None:
    starts = Starts(is_match=True)
    assert starts.succeed([A, B], THERE) == []
    assert starts.fail(WHY, HERE) == [
        f"node1 (process 1): engine A {WHY[A]}; this worker gets no games for now"
    ]
    assert starts.left_out(task()) == {HERE} and starts.admit(task())
    assert starts.fail(WHY, HERE) == [], "reported only once"
    assert starts.succeed([A, B], THERE) == [] and starts.left_out(task()) == {HERE}
    assert starts.succeed([A, B], HERE) == ["node1 (process 1): engine A starts again"]
    assert starts.left_out(task()) == frozenset()


@pytest.mark.quick
def test_a_worker_is_left_out_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(is_match=False)
    starts.succeed([A, B], THERE)
    (notice,) = starts.fail(WHY, HERE)
    assert notice.endswith("; this worker gets no games of A for now")
    clock = retries.monotonic()
    monkeypatch.setattr(retries, "monotonic", lambda: clock + retries.LONGEST_PAUSE)
    assert starts.left_out(task()) == frozenset()


@pytest.mark.quick
def test_failed_starts_on_two_nodes_are_the_fault_of_the_engine() -> None:
    starts = Starts(is_match=True)
    starts.succeed([A, B], NEAR)
    starts.fail(WHY, HERE)
    starts.fail(WHY, NEAR)
    assert starts.left_out(task()) == {HERE, NEAR}, "one node may be at fault for both"
    assert starts.fail(WHY, THERE) == [
        f"node2 (process 2): engine A {WHY[A]}; this worker gets no games for now",
        f"engine A {WHY[A]}; its games wait, and it is tried again",
    ]
    assert starts.left_out(task()) == {HERE, NEAR, THERE} and not starts.admit(task())


@pytest.mark.quick
def test_a_second_failure_on_one_worker_counts_after_its_pause(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = Starts(is_match=True)
    assert len(starts.fail(WHY, HERE)) == 1
    assert starts.fail(WHY, HERE) == [], "its task was submitted before the pause"
    clock = retries.monotonic()
    monkeypatch.setattr(retries, "monotonic", lambda: clock + retries.LONGEST_PAUSE)
    assert starts.fail(WHY, HERE) == [
        f"engine A {WHY[A]}; its games wait, and it is tried again"
    ]
    assert not starts.admit(task()) and starts.has_playable
