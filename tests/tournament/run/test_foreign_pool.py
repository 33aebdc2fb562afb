"""Executors that have no workers, block or are lost: the run reports this, waits and gives up."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from merels.tournament.journal.rows import Standings
from merels.tournament.records.games import GameSpec, PairTask
from merels.tournament.run import foreign_pool
from merels.tournament.run.tasks import PairReport, Place, play_pair
from merels.tournament.run.view import View
from tests.tournament.run.test_runner import Run, as_planned, cancelled
from tests.tournament.specs import settings

pytestmark = pytest.mark.thorough

WAIT = 1.0
"""Value of -executorwait, in seconds."""
SINCE = r"waiting since \d\d:\d\d:\d\d"
UNTIL = SINCE + r"; the run ends at \d\d:\d\d:\d\d \(-executorwait 1\)"


class Stalling(Executor):
    """Runs the first ``calls`` calls, and accepts later calls without running them."""

    def __init__(self, calls: int = 0) -> None:
        self.calls = calls
        self.threads = ThreadPoolExecutor(1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls -= 1
        return self.threads.submit(fn, *args, **kwargs) if self.calls >= 0 else Future()


def never_returns() -> Executor:
    """Wait forever, like a factory whose cluster does not answer."""
    threading.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("make, state, played", [
    (never_returns, "no executor yet", 0),
    (Stalling, "no worker answers", 0),
    (partial(Stalling, 2), "nothing comes back from the executor", 2),
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
    monkeypatch.setattr(foreign_pool, "SILENCE_SECONDS", 1.0)
    if not played:
        monkeypatch.setattr(foreign_pool, "ANSWER_SECONDS", 0.3)
    run = Run(settings(2, rounds=3), workers=1)
    run.board.views.append(Impatient(run, played, at_notice))
    assert run.play(partial(Stalling, played)) in ("interrupted", "killed")
    assert len(run.rows) == played


class Slow(ThreadPoolExecutor):
    """Plays each pair after a pause that is longer than `WAIT`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(play_late if fn is play_pair else fn, *args, **kwargs)


def play_late(task: PairTask, left_out: frozenset[Place], number: int) -> PairReport:
    threading.Event().wait(2 * WAIT)
    return play_pair(task, left_out, number)


def test_a_running_pair_may_take_longer_than_the_wait() -> None:
    run = Run(settings(2, rounds=1), workers=1)
    assert run.play(partial(Slow, 1), WAIT) == "finished" and run.record.notices == []


class Restarting(Stalling):
    """The first executor cancels pair 3; then the cluster refuses two connections."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        if self.made in (2, 3):
            raise OSError("connection refused")
        super().__init__(10**6)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        if self.made == 1 and fn is play_pair and args[0].games[0].pair == 3:
            future.cancel()
            return cancelled()
        return future


def test_a_run_continues_when_its_cluster_is_back() -> None:
    chosen = settings(2, rounds=4)
    run = Run(chosen, workers=1)
    assert run.play(Restarting, 60.0) == "finished" and as_planned(run.rows, chosen)
    assert run.record.notices == [
        "the executor is lost: it has cancelled a pair of games; waiting for a new one",
        "a new executor answers; the run continues",
    ]
    assert Restarting.made == 4


class DoesNotShutDown(ThreadPoolExecutor):
    """Hangs in ``shutdown``, or raises ``error`` there."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__(1)
        self.error = error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(False, cancel_futures=True)
        if self.error is not None:
            raise self.error
        threading.Event().wait()


@pytest.mark.parametrize("error, cause", [(None, ""), (CancelledError("x"), ": CancelledError")])
def test_an_executor_that_does_not_shut_down_loses_no_game(
    error: Exception | None, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if error is None:
        monkeypatch.setattr(foreign_pool, "END_SECONDS", 0.5)
    run = Run(settings(2, rounds=1))
    assert run.play(partial(DoesNotShutDown, error)) == "finished" and len(run.rows) == 2
    (notice,) = run.record.notices
    assert notice.startswith("the executor does not shut down" + cause)
