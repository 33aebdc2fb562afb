"""One scriptable executor, and games that are invented instead of played.

A `Script` is the factory of executors that answer the calls for pairs of games as scripted::

    Script({2: raises(RuntimeError("closed")), 3: lost, 5: never})

raises when the second call is submitted, loses the result of the third, and never answers the
fifth. All other pairs are invented, without processes. A command line gets such an executor by the
flags `INVENTED`.
"""

from __future__ import annotations

import itertools
import random
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.rules import parse_rules
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.play.game import utc_now
from merels.tournament.records.games import GameResult, GameSpec, MoveRecord, Origin, PairTask
from merels.tournament.run.tasks import (
    Backoff,
    Finished,
    PairReport,
    Place,
    play_pair,
)

INVENTED = ("-executor", "tests.kit.executor:scripted")
"""Flags of a run on the executors of `SCRIPT`."""
PLIES = 4
"""Number of moves of an invented game."""
PROGRAM = "0123456789abcdef"
"""Fingerprint of the program of all engines."""
PAUSE = 0.02
"""Seconds that a worker that is left out keeps a call."""


def invent(spec: GameSpec) -> Row:
    """Return a finished game: random legal moves, and a result that depends on its seed.

    An engine with at least 100 times the nodes of its opponent wins.
    """
    chance = random.Random(spec.seed)
    position = parse_position(spec.opening.position, parse_rules(spec.rules))
    position = play_moves(position, spec.opening.moves)
    moves = []
    for _ in range(PLIES):
        if position.outcome() is not None:
            break
        move = chance.choice(position.legal_moves())
        moves.append(MoveRecord(str(move), 0, None, 1, 1, 10**6))
        position = position.play(move)
    white, black = (entrant.limit.nodes or 1 for entrant in (spec.white, spec.black))
    outcome = chance.choice(("1-0", "1/2-1/2", "0-1"))
    if max(white, black) >= 100 * min(white, black):
        outcome = "1-0" if white > black else "0-1"
    if outcome != "1/2-1/2":
        for distance, move in zip((1, -2, 3), reversed(moves)):
            move.score, move.win_in = None, distance
    cause = "repetition" if outcome == "1/2-1/2" else "blocked"
    return make_row(GameResult(
        spec, outcome, "normal", "invented", tuple(moves), utc_now(), 10**9, cause=cause,
        origin=Origin("node", "1.0", (spec.white.name, spec.black.name), (PROGRAM, PROGRAM)),
    ))


@dataclass(frozen=True)
class PairCall:
    """A call for a pair of games."""

    number: int
    """Number among the calls for pairs of all executors of the script, from 1."""
    task: PairTask
    play: Callable[[], Future[Any]]
    """Submits the call and returns its future."""
    script: Script


Fate = Callable[[PairCall], "Future[Any]"]
"""Answers a call for a pair, or raises as ``submit`` may."""
CannotStart = Callable[[Place, str], str]
"""Returns why an engine does not start on a worker, or ''."""


class Script:
    """A factory of executors that share one script.

    ``fates``: number of a call for a pair → its fate; ``others``: the fate of all other calls.
    ``made``: number of an executor → the error of the factory instead. ``tests``: whether the test
    call is answered.
    ``work`` plays a pair, by default `invent`; ``fault`` prevents engines from starting.
    ``at_end`` is called at ``shutdown``. Executors from number ``refusing_from`` on refuse all
    calls.
    """

    def __init__(
        self, fates: Mapping[int, Fate] | None = None, others: Fate | None = None, *,
        made: Mapping[int, BaseException] | None = None, tests: bool = True, workers: int = 1,
        fault: CannotStart = lambda place, name: "",
        work: Callable[..., Any] | None = None, at_end: Callable[[], object] = int,
        refusing_from: int = 10**9,
    ) -> None:
        self.refusing_from = refusing_from
        self.fates, self.others, self.made = fates or {}, others or plays, made or {}
        self.tests, self.workers, self.fault = tests, workers, fault
        self.work, self.at_end = work or self.invent_pair, at_end
        self.waits: list[bool] = []
        """Whether each ``shutdown`` was asked to wait for the workers."""
        self.executors: list[_Scripted] = []
        self.count = itertools.count(1)
        self.makes = 0
        self.pauses: dict[tuple[Place, str], Backoff] = {}
        self.futures: dict[int, Future[Any]] = {}
        """Number of a call → its future."""
        self.held: list[tuple[Future[Any], Future[Any]]] = []
        """Futures of `late` calls, and the futures of their pairs."""
        self._here = threading.local()

    def __call__(self) -> Executor:
        """Make an executor."""
        self.makes += 1
        if (error := self.made.get(self.makes)) is not None:
            raise error
        self.executors.append(executor := _Scripted(self))
        return executor

    def name_worker(self, numbers: Callable[[], int]) -> None:
        """Give the current thread a place: a worker of its own."""
        self._here.place = Place("node", numbers())

    @property
    def place(self) -> Place:
        return self._here.place  # type: ignore[no-any-return]

    def invent_pair(self, task: PairTask, number: int) -> PairReport:
        """Invent the games of a pair, unless an engine does not start on this worker."""
        pauses = [self.pauses[self.place, name] for name in task.engines
                  if (self.place, name) in self.pauses]
        if any(pause.is_paused for pause in pauses):
            threading.Event().wait(PAUSE)
            return PairReport(self.place)
        faults = {name: self.fault(self.place, name) for name in sorted(task.engines)}
        if failures := {name: fault for name, fault in faults.items() if fault}:
            for name in failures:
                self.pauses.setdefault((self.place, name), Backoff()).fail()
            return PairReport(self.place, failures=failures)
        for name in task.engines:
            self.pauses.pop((self.place, name), None)
        return PairReport(self.place, tuple(Finished(invent(spec)) for spec in task.games))


class _Scripted(Executor):
    """An executor of a script; its workers are threads."""

    def __init__(self, script: Script) -> None:
        self.script, self.number = script, script.makes
        self.threads = ThreadPoolExecutor(
            script.workers, initializer=script.name_worker,
            initargs=(partial(next, itertools.count(1)),),
        )
        self.is_shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        script = self.script
        if self.number >= script.refusing_from:
            raise RuntimeError("Client is closed")
        if fn is play_pair:
            play = partial(self.threads.submit, script.work, *args)
            call = PairCall(next(script.count), args[0], play, script)
            future = script.fates.get(call.number, script.others)(call)
            script.futures[call.number] = future
            return future
        return self.threads.submit(fn, *args) if script.tests else Future()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.is_shut = True
        self.script.waits.append(wait)
        self.threads.shutdown(wait, cancel_futures=cancel_futures)
        self.script.at_end()


def plays(call: PairCall) -> Future[Any]:
    """Play the pair."""
    return call.play()


def raises(error: BaseException) -> Fate:
    """Return the fate of a call whose ``submit`` raises."""

    def fate(call: PairCall) -> Future[Any]:
        raise error

    return fate


def fails(error: BaseException) -> Fate:
    """Return the fate of a call whose future fails."""
    return lambda call: failed(error)


def failed(error: BaseException) -> Future[Any]:
    """Return a future that has failed."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def cancels(call: PairCall) -> Future[Any]:
    """Cancel the call, as Dask's executor does when it loses its scheduler."""
    future: Future[Any] = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


def never(call: PairCall) -> Future[Any]:
    """Accept the call, but never run it."""
    return Future()


def lost(call: PairCall) -> Future[Any]:
    """Play the pair, but raise when its result or exception is read."""
    future = _Lost()
    call.play().add_done_callback(future.set_result)
    return future


def late(call: PairCall) -> Future[Any]:
    """Play the pair, but return its result only at a call with the fate `frees`."""
    future: Future[Any] = Future()
    call.script.held.append((future, call.play()))
    return future


def frees(call: PairCall) -> Future[Any]:
    """Return the results of the calls that are late, then play this pair."""
    for future, played in call.script.held:
        future.set_result(played.result(60))
    return call.play()


def twice(call: PairCall) -> Future[Any]:
    """Play the pair twice, and call the callbacks of its future twice."""
    call.play()
    future = _TwiceDone()
    call.play().add_done_callback(lambda done: future.set_result(done.result()))
    return future


def stale(call: PairCall) -> Future[Any]:
    """Return the result of the first call."""
    return call.script.futures[1]


def junk(call: PairCall) -> Future[Any]:
    """Return a value that is no report."""
    future: Future[Any] = Future()
    future.set_result("")
    return future


def slow(seconds: float) -> Fate:
    """Return the fate of a call whose ``submit`` blocks for a while."""

    def fate(call: PairCall) -> Future[Any]:
        threading.Event().wait(seconds)
        return call.play()

    return fate


class _Lost(Future[Any]):
    def result(self, timeout: float | None = None) -> Any:
        raise CancelledError("the node with the result is lost")

    def exception(self, timeout: float | None = None) -> BaseException | None:
        return self.result()  # type: ignore[no-any-return]


class _TwiceDone(Future[Any]):
    def add_done_callback(self, fn: Callable[[Future[Any]], object]) -> None:
        super().add_done_callback(fn)
        super().add_done_callback(fn)


def after(action: Callable[[], object], fate: Fate = plays) -> Fate:
    """Return the fate of a call before which ``action`` is called."""

    def acting(call: PairCall) -> Future[Any]:
        action()
        return fate(call)

    return acting


def interrupts() -> None:
    """Interrupt this process."""
    signal.raise_signal(signal.SIGINT)


SCRIPT = Script()
"""Script of `scripted`; tests replace it."""


def scripted() -> Executor:
    """Make an executor of `SCRIPT`."""
    return SCRIPT()
