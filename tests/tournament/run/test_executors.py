"""Executors that fail, stall or are lost: each game is played once, or has no result."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.journal.standings import Standings
from merels.tournament.play.preflight import PreflightResult
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.run import executor, tasks
from merels.tournament.run.tasks import Place
from merels.tournament.run.scoreboard import View
from tests.kit.executor import (
    Fate,
    Script,
    cancels,
    fails,
    frees,
    invent,
    junk,
    late,
    lost,
    never,
    plays,
    raises,
    slow,
    stale,
    twice,
)
from tests.kit.rows import check_rows
from tests.tournament.run.runs import Run, as_planned
from tests.tournament.specs import engine, settings

MATCH, SWISS = settings(2, rounds=6), settings(4, rounds=2, format="swiss")
CLOSED, NODE_LOST = RuntimeError("Client is closed"), OSError("node lost")
BROKEN = BrokenExecutor("x")
WAIT = 1.0
"""Value of -executorwait, in seconds."""
SINCE = r"waiting since \d\d:\d\d:\d\d"
UNTIL = SINCE + r"; the run ends at \d\d:\d\d:\d\d \(-executorwait 1\)"


FAILING: Mapping[str, Script] = {
    "raises at submit": Script({2: raises(CLOSED), 4: raises(CLOSED)}),
    "node lost": Script({number: fails(NODE_LOST) for number in (2, 3, 5)}),
    "late result": Script({2: late, 3: raises(BROKEN), 6: frees}),
    "results twice": Script(others=twice),
    "wrong results": Script({2: stale, 3: junk}),
    "scheduler lost": Script({2: cancels, 4: cancels, 6: fails(BROKEN)}),
    "result lost": Script({2: lost, 3: lost}),
    "blocks at submit": Script({2: slow(0.3)}),
    "factory fails": Script({3: cancels}, made={2: OSError("refused"), 3: OSError("refused")}),
}


def test_every_game_is_played_once_on_a_failing_executor() -> None:
    def check(name: str, chosen: Settings) -> None:
        run, script = Run(chosen), FAILING[name]
        assert run.play(script, 60.0) == "finished", run.record.notices
        assert as_planned(run.rows, chosen)
        assert all(future.done() for future, _ in script.held), "no result came late"

    check_rows(((name, MATCH) for name in FAILING), check)


@pytest.mark.parametrize("fate", [cancels, raises(CLOSED), raises(BROKEN)])
@pytest.mark.parametrize("chosen", [MATCH, SWISS], ids=["match", "swiss"])
def test_a_pair_lost_by_an_executor_is_played_on_the_next_one(chosen: Settings, fate: Fate) -> None:
    run, script = Run(chosen), Script({2: fate})
    assert run.play(script) == "finished" and script.makes == 2
    assert [row.number for row in run.rows] == list(range(1, run.board.plan.own_games + 1))
    lost_it, replaced = run.record.notices
    assert lost_it.startswith("the executor is lost: ")
    assert replaced.startswith("a new executor answers")


def test_new_executors_that_refuse_all_calls_end_the_run_and_are_shut_down() -> None:
    run, script = Run(MATCH), Script({1: raises(BROKEN)}, raises(CLOSED), refusing_from=2)
    assert run.play(script) == "timed_out" and run.rows == []
    assert script.makes == tasks.MAX_FAILURES
    assert all(executor.is_shut for executor in script.executors)
    assert len(run.record.notices) == 2, run.record.notices
    lost_it, given_up = run.record.notices
    assert lost_it == "the executor is lost: BrokenExecutor('x'); waiting for a new one"
    assert given_up.startswith("5 executors in a row have failed: ")
    assert "Client is closed" in given_up


def test_permanently_failing_calls_write_no_result_and_can_be_resumed(tmp_path: Path) -> None:
    """In a former version, 978 of 1,000 games were given up, with exit status 0."""
    chosen = settings(2, rounds=500)
    for fate, error in (
        (fails(NODE_LOST), "node lost"), (raises(NODE_LOST), "OSError('node lost')")
    ):
        path = tmp_path / error
        run = Run(chosen, path)
        assert run.play(Script(dict.fromkeys(range(1, 7), plays), fate)) == "timed_out"
        assert 8 <= len(run.rows) <= 12, "a pair may be out when its executor is replaced"
        assert run.record.notices[-1] == f"5 executors in a row have failed: {error}; given up"
        numbers = run.journal.numbers()
        run.journal.close()
        resumed = Run(replace(chosen, rounds=501), path)
        assert resumed.journal.numbers() == numbers


@pytest.mark.parametrize("workers", [1, 4])
def test_workers_that_cannot_play_stop_the_run_and_lose_no_game(workers: int) -> None:
    """As on a cluster whose workers cannot import merels."""
    error = ModuleNotFoundError("No module named 'merels'")
    run = Run(settings(rounds=30), workers=workers)
    assert run.play(Script(others=fails(error))) == "timed_out" and run.rows == []
    assert run.record.notices[-1] == (
        "5 executors in a row have failed: No module named 'merels'; given up"
    )


def test_an_exception_without_a_message_is_reported_by_its_type() -> None:
    run = Run(settings(2, rounds=1))
    assert run.play(Script(others=fails(RuntimeError("\n")))) == "timed_out"
    assert "RuntimeError" in run.record.notices[0]


def test_a_retry_has_different_arguments() -> None:
    """In a former version, Dask returned its cached failure for each retry, without end."""
    numbers = []

    def work(task: object, number: int) -> Any:
        numbers.append(number)
        if len(numbers) == 1:
            raise NODE_LOST
        return script.invent_pair(task, number)  # type: ignore[arg-type]

    script = Script(work=work)
    run = Run(MATCH)
    assert run.play(script) == "finished" and as_planned(run.rows, MATCH)
    assert len(numbers) == len(set(numbers)) == 7


def test_a_call_that_never_returns_ends_the_run_after_its_wait() -> None:
    run = Run(settings(2, rounds=3))
    assert run.play(Script({2: never}), WAIT) == "timed_out"
    assert [row.number for row in run.rows] == [1, 2, 5, 6]


def bad(*workers: int) -> Callable[[Place, str], str]:
    """Return the fault of workers on which the engine A does not start."""
    def fault(place: Place, name: str) -> str:
        return "does not start (exit code 127)" if name == "A" and place.process in workers else ""

    return fault


class FirstNode:
    """The worker that gets the first pair; the executor decides which one that is."""

    def __init__(self) -> None:
        self.place: Place | None = None
        self._choosing = threading.Lock()

    def is_at(self, place: Place) -> bool:
        """Return whether ``place`` is this worker; the first one that is asked about is."""
        with self._choosing:
            self.place = self.place or place
        return place == self.place


class RepairedNode(FirstNode):
    """The engine A does not start on the first node before ``repair``.

    After it, no other worker plays until A has started there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_repaired = False
        self._has_restarted = threading.Event()

    def repair(self) -> None:
        self.is_repaired = True

    def __call__(self, place: Place, name: str) -> str:
        is_first = self.is_at(place)
        if not self.is_repaired:
            return bad(place.process)(place, name) if is_first else ""
        if is_first:
            self._has_restarted.set()
        else:
            assert self._has_restarted.wait(60)
        return ""


def test_a_node_where_an_engine_does_not_start_is_left_out() -> None:
    """In a former version the engine lost 172 of 200 games, as a failing node gets most calls."""
    chosen = settings(2, rounds=20)
    run, node = Run(chosen), RepairedNode()
    assert run.play(Script(workers=3, fault=node)) == "finished"
    assert as_planned(run.rows, chosen)
    (notice,) = run.record.notices
    assert notice.startswith(f"{node.place}: engine A does not start")
    assert notice.endswith("; this worker gets no games for now")


def test_a_node_is_used_again_when_its_engine_starts() -> None:
    chosen = settings(2, rounds=4)
    run, node = Run(chosen), RepairedNode()
    run.board.views.append(AtNotice(node.repair))
    assert run.play(Script(workers=2, fault=node)) == "finished"
    failed_start, repaired = run.record.notices
    assert failed_start.endswith("; this worker gets no games for now")
    assert repaired.endswith("engine A starts again")


class AtNotice(View):
    """Calls a function at each notice."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action

    def notice(self, text: str) -> None:
        self.action()


def test_games_of_an_engine_that_starts_on_no_node_stay_unplayed() -> None:
    engines = (engine("A"), engine("B"), engine("C"))
    for workers in (1, 3):
        run = Run(settings(2, rounds=2, engines=engines))
        starts = itertools.count()

        def fault(place: Place, name: str) -> str:
            return bad(1, 2, 3)(place, name) if name == "A" and next(starts) else ""

        assert run.play(Script(workers=workers, fault=fault)) == "stuck"
        assert sum("A" in (row.white, row.black) for row in run.rows) == 2, "its first pair"
        assert sum("A" not in (row.white, row.black) for row in run.rows) == 4
        assert run.record.notices[-1] == (
            "engine A does not start (exit code 127): its games are left unplayed"
        )


def test_an_engine_that_cannot_play_before_the_first_game_ends_the_run() -> None:
    for workers in (1, 2):
        run = Run(settings(2, rounds=2))
        script = Script(workers=workers, fault=bad(1, 2))
        with pytest.raises(ValueError, match="'-engine A': does not start"):
            run.play(script)
        # A process pool that still shuts down while this process exits prints a traceback.
        assert run.rows == [] and script.waits == [True]


def test_a_run_ended_by_an_engine_that_cannot_play_does_not_wait_for_other_pairs() -> None:
    has_begun, may_end = threading.Event(), threading.Event()
    last: dict[Place, str] = {}

    def fault(place: Place, name: str) -> str:
        previous, last[place] = last.get(place), name
        if name == "A":
            assert has_begun.wait(60)
            return "does not start"
        if (previous, name) == ("B", "C"):  # The names of a pair come in order.
            has_begun.set()
            assert may_end.wait(60)
        return ""

    run, script = Run(settings(3, rounds=1)), Script(workers=3, fault=fault)
    try:
        with pytest.raises(ValueError, match="'-engine A': does not start"):
            run.play(script)
        assert script.waits == [False]
    finally:
        may_end.set()


class FirstNodeOfTwo(FirstNode):
    """The engine A does not start on the first node, and is tried there only during a game.

    That game is the first one of the other worker. It ends after A has failed ``failures`` times.
    """

    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures
        self._has_begun, self._is_over = threading.Event(), threading.Event()

    def __call__(self, place: Place, name: str) -> str:
        if not self.is_at(place):
            self._has_begun.set()
            assert self._is_over.wait(60)
            return ""
        assert self._has_begun.wait(60)
        fault = bad(place.process)(place, name)
        self._failures -= bool(fault)
        if not self._failures:
            self._is_over.set()
        return fault


def test_a_failing_node_does_not_end_a_run_whose_first_game_is_in_progress() -> None:
    """In a former version, a game of ten seconds was too long for a cluster with one bad node."""
    chosen = settings(2, rounds=4)
    run = Run(chosen)
    assert run.play(Script(workers=2, fault=FirstNodeOfTwo(3))) == "finished", run.record.notices
    assert as_planned(run.rows, chosen)


def test_an_engine_that_cannot_play_does_not_end_a_continued_run(tmp_path: Path) -> None:
    chosen = settings(2, rounds=2)
    run = Run(chosen, tmp_path / "j")
    run.journal.append(invent(run.board.plan.next().games[0]))  # type: ignore[union-attr]
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play(Script(workers=2, fault=bad(1, 2))) == "stuck" and len(resumed.rows) == 1


def test_a_notice_of_the_trials_is_shown_once() -> None:
    def work(*arguments: Any) -> Any:
        return replace(script.invent_pair(*arguments), notices=("A declares no options",))

    script = Script(workers=2, work=work)
    run = Run(MATCH)
    assert run.play(script) == "finished" and run.record.notices == ["A declares no options"]


def test_a_worker_tries_each_engine_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(tasks, "_passed_engines", set())
    monkeypatch.setattr(
        tasks, "preflight",
        lambda entrants, *more: tried.append(entrants[0].name) or PreflightResult([], []),
    )
    run = Run(settings(2, rounds=3))
    assert run.play(partial(ThreadPoolExecutor, 1)) == "finished" and tried == ["A", "B"]


def never_returns() -> Executor:
    """Wait forever, like a factory whose cluster does not answer."""
    threading.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(("make", "state", "played"), [
    (never_returns, "no executor yet", 0),
    (Script(tests=False), "no worker answers", 0),
    (Script({1: plays}, never), "nothing comes back from the executor", 2),
])
def test_an_executor_without_workers_is_reported_and_given_up(
    make: Callable[[], Executor], state: str, played: int
) -> None:
    run = Run(settings(2, rounds=3), workers=1)
    assert run.play(make, WAIT) == "timed_out"
    waiting, given_up = run.record.notices
    assert re.fullmatch(f"{state}, {UNTIL}", waiting)
    assert re.fullmatch(f"{state}, {SINCE}; given up", given_up)
    assert len(run.rows) == played


class Impatient(View):
    """Interrupts once: at the notice of a stall, or already after ``played`` games."""

    def __init__(self, run: Run, played: int, at_notice: bool) -> None:
        self.run, self.played, self.at_notice = run, played, at_notice
        self.has_interrupted = False

    def notice(self, text: str) -> None:
        self.interrupt_once(self.at_notice)

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        self.interrupt_once(not self.at_notice and standings.finished == self.played)

    def interrupt_once(self, is_due: bool) -> None:
        if is_due and not self.has_interrupted:
            self.has_interrupted = True
            self.run.runner.interrupt()


@pytest.mark.parametrize("at_notice", [False, True])
@pytest.mark.parametrize("played", [0, 2])
def test_one_interrupt_ends_the_wait_for_a_stalled_executor(
    played: int, at_notice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The executor that plays a pair answers, so that only its later silence may be a stall.
    monkeypatch.setattr(executor, "SILENCE_SECONDS", 0.5)
    if not played:
        monkeypatch.setattr(executor, "ANSWER_SECONDS", 0.3)
    run = Run(settings(2, rounds=3), workers=1)
    run.board.views.append(Impatient(run, played, at_notice))
    script = Script({1: plays}, never) if played else Script(tests=False)
    assert run.play(script) in ("interrupted", "killed")
    assert len(run.rows) == played


def test_a_running_pair_may_take_longer_than_the_wait() -> None:
    def work(*arguments: Any) -> Any:
        threading.Event().wait(2 * WAIT)
        return script.invent_pair(*arguments)

    script = Script(work=work)
    run = Run(settings(2, rounds=1), workers=1)
    assert run.play(script, WAIT) == "finished" and run.record.notices == []


@pytest.mark.parametrize("error", [None, CancelledError("x")])
def test_an_executor_that_does_not_shut_down_loses_no_game(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_end() -> None:
        if error is not None:
            raise error
        threading.Event().wait()

    if error is None:
        monkeypatch.setattr(executor, "END_SECONDS", 0.3)
    run = Run(settings(2, rounds=1))
    assert run.play(Script(at_end=at_end)) == "finished" and len(run.rows) == 2
    (notice,) = run.record.notices
    cause = ": CancelledError" if error else ""
    assert notice.startswith("the executor does not shut down" + cause)
