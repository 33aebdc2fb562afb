"""Executors and nodes that fail: no unplayed game gets a result."""

from __future__ import annotations

import itertools
import os
import pickle
import random
import threading
from collections.abc import Callable
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.play import preflight
from merels.tournament.records.games import Entrant, PairTask
from merels.tournament.records.settings import Settings
from merels.tournament.run import tasks
from merels.tournament.run.foreign_pool import ForeignPool
from merels.tournament.run.runner import Runner
from merels.tournament.run.tasks import PairReport, Place, here, play_pair, try_all
from merels.tournament.run.view import View
from tests.tournament.run.test_runner import Run, as_planned, cancelled, failed, script
from tests.tournament.specs import engine, settings

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def count_from_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Number the calls for pairs from 1 in each test."""
    monkeypatch.setattr(Threads, "count", itertools.count(1))


class Threads(Executor):
    """A thread pool; subclasses override `pair` to fail some calls for pairs."""

    count = itertools.count(1)
    """Numbers of the calls for pairs, shared by all executors of one test."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is play_pair:
            return self.pair(next(self.count), partial(self.threads.submit, fn, *args))
        return self.threads.submit(fn, *args, **kwargs)

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        return play()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.threads.shutdown(wait, cancel_futures=cancel_futures)


class RaisesAtSubmit(Threads):
    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number in (2, 4):
            raise RuntimeError("Client is closed")
        return play()


class RaisesAtResult(Threads):
    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        return failed(OSError("node lost")) if number in (2, 3, 5) else play()


class LosesResults(Threads):
    """Returns a future that is done, but raises when its result or exception is read."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number not in (2, 3):
            return play()
        play().add_done_callback((lost := Lost()).set_result)
        return lost


class Lost(Future[Any]):
    def result(self, timeout: float | None = None) -> Any:
        raise CancelledError("the node with the result is lost")

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return self.result()


class RaisesAtRandom(Threads):
    chance = random.Random(1)

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        return failed(OSError("node lost")) if self.chance.random() < 0.4 else play()


class ReturnsLate(Threads):
    """Returns the result of the second call after a later executor has played its pair."""

    late: list[Future[Any]] = []
    """The future that the runner got for the second call, and the future of its pair."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number == 2:
            self.late.extend([Future(), play()])
            return self.late[0]
        if number == 3:
            raise BrokenExecutor("gone")
        if number == 6:
            self.late[0].set_result(self.late[1].result(60))
        return play()


class ReturnsTwice(Threads):
    """Plays each pair twice, and calls the callbacks of its future twice."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        play()
        future = TwiceDone()
        play().add_done_callback(lambda done: future.set_result(done.result()))
        return future


class TwiceDone(Future[Any]):
    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        super().add_done_callback(fn)
        super().add_done_callback(fn)


class ReturnsWrongResults(Threads):
    """Returns the result of the first call for the second, and no report for the third."""

    first: list[Future[Any]] = []

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number == 1:
            self.first.append(future := play())
            return future
        if number == 3:
            return self.threads.submit(str)
        return self.first[0] if number == 2 else play()


class LosesItsScheduler(Threads):
    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number in (2, 4):
            return cancelled()
        if number == 6:
            return failed(BrokenExecutor("the scheduler is gone"))
        return play()


class BlocksAtSubmit(Threads):
    """Blocks in ``submit`` of the second pair."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number == 2:
            threading.Event().wait(1.0)
        return play()


FAILING = [
    RaisesAtSubmit, RaisesAtResult, RaisesAtRandom, ReturnsLate, ReturnsTwice, ReturnsWrongResults,
    LosesItsScheduler, LosesResults, BlocksAtSubmit,
]
MATCH, SWISS = settings(2, rounds=6), settings(4, rounds=2, format="swiss")


@pytest.mark.parametrize(
    ("kind", "chosen"),
    # ReturnsLate needs a third pair, which a round of this Swiss tournament does not have.
    [*((kind, MATCH) for kind in FAILING), (RaisesAtResult, SWISS), (LosesItsScheduler, SWISS)],
)
def test_every_game_is_played_once_on_a_failing_executor(
    kind: type[Threads], chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("late", "first"):
        if hasattr(kind, name):
            monkeypatch.setattr(kind, name, [])
    run = Run(chosen)
    assert run.play(kind, 60.0) == "finished", run.record.notices
    assert as_planned(run.rows, chosen) or chosen.format == "swiss" and len(run.rows) == 8
    assert {row.termination for row in run.rows} == {"normal"}
    if kind is ReturnsLate:
        assert ReturnsLate.late[0].done(), "no result came late"


class NodeLost(Threads):
    """The futures of call 13 and of all later calls fail."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        return play() if number < 13 else failed(OSError("node lost"))


class RefusesAll(Threads):
    """`submit` raises for call 13 and for all later calls."""

    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        if number < 13:
            return play()
        raise OSError("node lost")


@pytest.mark.quick
@pytest.mark.parametrize("kind", [NodeLost, RefusesAll])
def test_permanently_failing_calls_write_no_result_and_can_be_resumed(
    kind: type[Threads], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, 978 of 1,000 games were given up, with exit status 0."""
    monkeypatch.setattr(Threads, "count", itertools.count(7))  # The first six calls succeed.
    chosen = settings(2, rounds=500)
    run = Run(chosen, tmp_path / "j")
    assert run.play(kind) == "timed_out"
    assert 8 <= len(run.rows) <= 12 and {row.termination for row in run.rows} == {"normal"}
    error = "node lost" if kind is NodeLost else "OSError('node lost')"
    assert run.record.notices[-1] == f"5 executors in a row have failed: {error}; given up"
    numbers = run.journal.numbers()
    run.journal.close()
    resumed = Run(replace(chosen, rounds=501), tmp_path / "j")
    assert resumed.journal.numbers() == numbers


class Caching(Threads):
    """Returns the same future for equal calls, as Dask's executor does."""

    def __init__(self) -> None:
        super().__init__()
        self.futures: dict[bytes, Future[Any]] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        call = pickle.dumps((fn, args))
        if call not in self.futures:
            self.futures[call] = super().submit(fn, *args, **kwargs)
        return self.futures[call]


def test_a_retry_has_different_arguments(tmp_path: Path) -> None:
    """In a former version, Dask returned its cached failure for each retry, without end."""
    body = 'if not os.path.exists(flag):\n    open(flag, "x")\n    sys.exit(1)\n'
    engines = (engine("A", command=script(tmp_path, body)), engine("B"))
    chosen = settings(rounds=2, engines=engines)
    run = Run(chosen)
    assert run.play(Caching) == "finished" and as_planned(run.rows, chosen)


class Hangs(Threads):
    def pair(self, number: int, play: Callable[[], Future[Any]]) -> Future[Any]:
        return Future() if number == 2 else play()


def test_a_call_that_never_returns_ends_the_run_after_its_wait() -> None:
    run = Run(settings(2, rounds=3))
    assert run.play(Hangs, 2.0) == "timed_out"
    assert [row.number for row in run.rows] == [1, 2, 5, 6]


def die(task: PairTask, left_out: frozenset[Place], number: int) -> PairReport:
    """End the process that plays a pair."""
    os._exit(1)


class DiesInFork(ProcessPoolExecutor):
    """A pool of two forked processes; the process of the third pair exits."""

    pairs = itertools.count(1)

    def __init__(self) -> None:
        super().__init__(2, mp_context=get_context("fork"))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is play_pair and next(self.pairs) == 3:
            fn = die
        return super().submit(fn, *args, **kwargs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_worker_that_dies_loses_no_game() -> None:
    chosen = settings(2, rounds=4)
    run = Run(chosen)
    assert run.play(DiesInFork) == "finished" and as_planned(run.rows, chosen)


class Nodes(Executor):
    """Worker processes; as with a scheduler, the first idle process gets the next call.

    The first ``bad`` processes have ``BAD`` in their environment.
    """

    def __init__(self, good: int, bad: int) -> None:
        self.lock = threading.Lock()
        self.waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self.nodes = [
            ProcessPoolExecutor(1, get_context("spawn"), set_bad, (index < bad,))
            for index in range(good + bad)
        ]
        self.idle = list(range(len(self.nodes)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        self.feed()
        return future

    def feed(self) -> None:
        calls = []
        with self.lock:
            while self.waiting and self.idle:
                future, fn, args = self.waiting.pop(0)
                node = self.idle.pop(0)
                calls.append((self.nodes[node].submit(fn, *args), node, future))
        # Without the lock, because a call that is already done calls back at once.
        for call, node, future in calls:
            call.add_done_callback(partial(self.done, node, future))

    def done(self, node: int, future: Future[Any], call: Future[Any]) -> None:
        with self.lock:
            self.idle = sorted([*self.idle, node])
        if (error := call.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(call.result())
        self.feed()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for node in self.nodes:
            node.shutdown(wait, cancel_futures=cancel_futures)


def set_bad(is_bad: bool) -> None:
    """Set ``BAD`` in a worker process, to an empty text unless the process is bad."""
    os.environ["BAD"] = "x" * is_bad


def only_on_good_nodes(tmp_path: Path) -> Entrant:
    """Return an engine that exits with 127 on a bad node until the file ``flag`` exists."""
    body = 'if os.environ.get("BAD") and not os.path.exists(flag):\n    sys.exit(127)\n'
    return engine("A", command=script(tmp_path, body))


def add_trial(run: Run, chosen: Settings) -> None:
    """Add a trial of the engines before the first game of a run."""
    opening = run.board.plan.openings.trial
    trial = partial(preflight.preflight, chosen.engines, (), chosen.rules, opening)
    run.runner = Runner(run.board, window=2, trial=trial)


@pytest.mark.parametrize("tried", [False, True])
def test_a_node_where_an_engine_does_not_start_is_left_out(tmp_path: Path, tried: bool) -> None:
    """In a former version the engine lost 172 of 200 games, as a failing node gets most calls."""
    chosen = settings(2, rounds=10, engines=(only_on_good_nodes(tmp_path), engine("B")))
    run = Run(chosen)
    if tried:
        add_trial(run, chosen)
    assert run.play(partial(Nodes, 2, 1)) == "finished"
    assert as_planned(run.rows, chosen)
    notice, *others = run.record.notices
    assert notice.startswith(f"{here().host} (process ") and notice.endswith(
        "): engine A does not start: exit code 127; another worker tries the engines" if tried
        else "): engine A does not start (exit code 127); this worker gets no games for now"
    )
    # The worker is left out only during a pause, so that a trial may fail a second time.
    assert len(others) <= tried


class Repairing(View):
    """Creates a file at the first notice."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def notice(self, text: str) -> None:
        self.path.touch()


def test_a_node_is_used_again_when_its_engine_starts(tmp_path: Path) -> None:
    chosen = settings(2, rounds=200, engines=(only_on_good_nodes(tmp_path), engine("B")))
    run = Run(chosen)
    run.board.views.append(Repairing(tmp_path / "flag"))
    assert run.play(partial(Nodes, 1, 1)) == "finished"
    failed_start, repaired = run.record.notices
    assert failed_start.endswith("; this worker gets no games for now")
    assert repaired.endswith("engine A starts again")


@pytest.mark.parametrize("bad", [1, 3])
def test_games_of_an_engine_that_starts_on_no_node_stay_unplayed(tmp_path: Path, bad: int) -> None:
    engines = (only_on_good_nodes(tmp_path), engine("B"), engine("C"))
    run = Run(settings(2, rounds=2, engines=engines))
    assert run.play(partial(Nodes, 0, bad)) == "stuck"
    assert {frozenset((row.white, row.black)) for row in run.rows} == {frozenset("BC")}
    assert run.record.notices[-1] == (
        "engine A does not start (exit code 127): its games are left unplayed"
    )


def test_a_trial_that_fails_on_every_worker_refuses_the_engine(tmp_path: Path) -> None:
    chosen = settings(2, rounds=2, engines=(only_on_good_nodes(tmp_path), engine("B")))
    run = Run(chosen)
    add_trial(run, chosen)
    with pytest.raises(ValueError, match="'-engine A': does not start: exit code 127"):
        run.play(partial(Nodes, 0, 2))
    assert run.rows == []


class FailsTheTrial(Threads):
    """Fails every call that tries the engines; a run must not make 20 such calls."""

    trials = itertools.count(1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if fn is try_all:
            assert next(self.trials) < 20, "the call that tries the engines is repeated endlessly"
            return failed(OSError("node lost"))
        return super().submit(fn, *args, **kwargs)


@pytest.mark.quick
def test_games_are_played_although_the_call_that_tries_the_engines_fails() -> None:
    chosen = settings(2, rounds=2)
    run = Run(chosen)
    add_trial(run, chosen)
    assert run.play(FailsTheTrial, 60.0) == "finished"
    assert as_planned(run.rows, chosen)


def test_a_worker_tries_each_engine_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr(tasks, "_passed_engines", set())
    monkeypatch.setattr(
        tasks, "preflight", lambda entrants, *more: tried.append(entrants[0].name) or []
    )
    run = Run(settings(2, rounds=3))
    assert run.play(partial(ThreadPoolExecutor, 1)) == "finished" and tried == ["A", "B"]


def test_a_killed_pool_cancels_calls_that_its_executor_has_not_accepted() -> None:
    pool = ForeignPool(BlocksAtSubmit, lambda: None, 0.0)
    futures = [pool.submit(str) for _ in range(3)]
    pool.kill()
    assert all(future.cancelled() for future in futures)
