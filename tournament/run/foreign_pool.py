"""A user-supplied `concurrent.futures.Executor`.

Its workers may be absent, its scheduler lost, its client closed. Its futures may fail, come late,
twice or never, and any call to it may block. So separate threads create it, feed it and shut it
down, and it gets no game before a worker has answered. It is replaced when it breaks, cancels a
call, or fails several calls in a row. Only a finished game resets the count of failures and the
time of silence. A running future counts as alive, however long it runs; Dask's futures never report
that they run.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from time import monotonic, sleep
from typing import Any, TypeVar

from merels.tournament.run.retries import TRIES
from merels.tournament.run.tasks import Place, lender, stay_busy
from merels.tournament.run.worker_pool import Pool

T = TypeVar("T")
ExecutorFactory = Callable[[], Executor]

ANSWER_SECONDS = 5.0
"""Seconds that the first answer of a worker may take before a notice."""
SILENCE_SECONDS = 30.0
"""Seconds without a finished game before a notice; more if games take longer."""
RETRY_SECONDS = 1.0
"""The pause before the factory is called again when it could not reach its cluster."""
END_SECONDS = 5.0
"""How long an executor may take to shut down, and after that this process to end."""
UNREACHABLE = (OSError, CancelledError, BrokenExecutor)
"""Errors that a factory raises while a cluster cannot be reached."""

_numbers = itertools.count(1)
"""The last argument of each call: Dask takes equal calls for one, and returns its result again."""
_abandoned = threading.Event()
"""Set when something of an executor goes on that may keep this process from ending."""


def answer(number: int) -> int:
    """The first call to a worker; returns ``number``."""
    return number


@dataclass(eq=False, slots=True)
class _Call:
    """A call on its way through the executor."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    is_filler: bool = False
    """Whether it only keeps a worker busy."""
    outer: Future[Any] = field(default_factory=Future)
    """The runner's future; it ends even if the executor's own future never does."""
    inner: Future[Any] | None = None
    """The executor's own, once it has taken the call."""
    began: float = field(default_factory=monotonic)


class ForeignPool(Pool):
    """Hands calls to the executor that ``make`` returns, and detects that no worker runs them.

    ``wake`` is called, in any thread, when `check` has something to do. The run is given up when
    nothing has come back for ``wait`` seconds; 0: never.
    """

    foreign = True

    def __init__(self, make: ExecutorFactory, wake: Callable[[], None], wait: float) -> None:
        super().__init__()
        self._make, self._wake, self._wait = make, wake, wait
        self._executor: Executor | None = None
        self._feed: queue.SimpleQueue[_Call | None]
        """Calls to hand over to the executor; None ends the thread that does."""
        self._calls: set[_Call] = set()
        """Those that have not come back; whoever removes one settles it."""
        self._heard = monotonic()
        """Time of the last response."""
        self._longest = 0.0
        """The longest time that a call took to come back."""
        self._loss = ""
        """Why a new executor is needed; empty: it is not."""
        self._is_lost = False
        """Whether the loss of an executor was reported, and no new one yet."""
        self._leaving = False
        self._connect()

    def _connect(self, pause: float = 0.0) -> None:
        """Make an executor and wait until one of its workers answers, in a thread."""
        self.ready, self._executor = False, None
        self._feed = queue.SimpleQueue()
        self._arrival: Future[None] = Future()
        words = (pause, self._arrival)
        threading.Thread(target=self._await_worker, args=words, daemon=True).start()

    def _await_worker(self, pause: float, arrival: Future[None]) -> None:
        try:
            sleep(pause)
            executor = self._make()
            if self._leaving:
                executor.shutdown(wait=False)
            else:
                self._executor = executor
                error = executor.submit(answer, next(_numbers)).exception()
                if isinstance(error, BrokenExecutor):
                    raise error
                # Any other error is one worker's: pairs will tell whether the others have it too.
            arrival.set_result(None)
        except BaseException as error:
            arrival.set_exception(error)
        self._wake()

    def submit(self, fn: Callable[..., T], /, *args: Any) -> Future[T]:
        """Hand a call over; the future is cancelled where the executor does not take it."""
        return self._put(_Call(fn, args))

    def occupy(self, places: frozenset[Place]) -> None:
        """Keep these workers busy for a while, if they happen to take the calls."""
        if sum(call.is_filler for call in list(self._calls)) < len(places):
            self._put(_Call(stay_busy, (places,), is_filler=True))

    def _put(self, call: _Call) -> Future[Any]:
        self._calls.add(call)
        self._feed.put(call)
        return call.outer

    def _hand_over(self, executor: Executor, feed: queue.SimpleQueue[_Call | None]) -> None:
        """Give calls to the executor, in a thread of its own: any of them may block."""
        while (call := feed.get()) is not None:
            if call not in self._calls:
                continue  # It was given up before.
            try:
                call.inner = executor.submit(call.function, *call.arguments, next(_numbers))
                call.inner.add_done_callback(partial(self._come_back, call))
            except BaseException as error:
                self._lose(executor, repr(error))
                self._give_up(call)

    def _come_back(self, call: _Call, inner: Future[Any]) -> None:
        """Take the executor's result of a call, in any thread."""
        if inner.cancelled():
            if not self._leaving and call in self._calls:
                self._lose(self._executor, "it has cancelled a pair of games")
            self._give_up(call)
        elif self._claim(call):
            self._longest = max(self._longest, monotonic() - call.began)
            if (error := inner.exception()) is not None:
                call.outer.set_exception(error)
            else:
                call.outer.set_result(inner.result())

    def _claim(self, call: _Call) -> bool:
        """Whether a call has not been settled before; it counts as settled from now on."""
        try:
            self._calls.remove(call)
        except KeyError:  # Its executor was given up, or returned it twice.
            return False
        return True

    def _give_up(self, call: _Call) -> None:
        """Let the runner have back a call that is not settled."""
        if self._claim(call):
            call.outer.cancel()
            call.outer.set_running_or_notify_cancel()

    def _lose(self, executor: Executor | None, why: str) -> None:
        """Note that an executor must be replaced, unless it is already."""
        if executor is self._executor:
            self.ready, self._loss = False, self._loss or why
        self._wake()

    def renew(self, why: str) -> None:
        """Ask for another executor, since calls fail on this one."""
        self._lose(self._executor, why)

    def note_work(self) -> None:
        """Note that a worker did what it was asked to."""
        super().note_work()
        self._heard = monotonic()
        if self.silent:
            self._notices.append("games come back from the executor again")
        self.silent = False

    def check(self) -> list[str]:
        """Replace an executor that is lost, and notice silence.

        Raises what the factory or the first executor raises, where waiting would not help.
        """
        if self._loss:
            self._replace()
        elif not self.ready and not self._leaving and self._arrival.done():
            self._arrive()
        if (notice := self._listen()) is not None:
            self._notices.append(notice)
        notices, self._notices = self._notices, []
        return notices

    def _replace(self) -> None:
        """End a lost executor, and make another after a pause, unless too many were lost."""
        why, self._loss = self._loss, ""
        self._give_up_calls()
        self._end(wait=False)
        if self._leaving:
            return
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            self._notices.append(f"{TRIES} executors in a row have failed: {why}; given up")
            return
        if not self._is_lost:
            self._is_lost = True
            self._notices.append(f"the executor is lost: {why}; waiting for a new one")
        self._connect(self._backoff.left)

    def _arrive(self) -> None:
        """Begin with a new executor, or ask for another where it could not be reached."""
        error, is_first = self._arrival.exception(), not self._is_lost
        if is_first:
            self._heard = monotonic()
        if error is None:
            self.ready = True
            assert self._executor is not None
            words = (self._executor, self._feed)
            threading.Thread(target=self._hand_over, args=words, daemon=True).start()
            if not is_first:
                self._is_lost = False
                self._notices.append("a new executor answers; the run goes on")
        elif is_first:
            raise error
        elif self._executor is not None:  # It did not take its first call.
            self._loss = repr(error)
        elif isinstance(error, UNREACHABLE):
            self._connect(RETRY_SECONDS)
        else:
            raise error

    def _listen(self) -> str | None:
        """Measure the silence; return a notice about it when one is due."""
        now = monotonic()
        calls = [call.inner for call in list(self._calls) if not call.is_filler]
        is_running = any(inner is not None and inner.running() for inner in calls)
        if is_running or self.ready and not calls:
            self._heard = now
        patience = max(SILENCE_SECONDS, 2 * self._longest) if self.ready else ANSWER_SECONDS
        if self._wait:
            patience = min(patience, self._wait / 2)
        silence = now - self._heard
        if self.given_up or silence < patience or self.silent and not 0 < self._wait <= silence:
            return None
        self.given_up, self.silent = self.silent or self._leaving, True
        since = datetime.now() - timedelta(seconds=silence)
        text = f"{self._state}, waiting since {since:%H:%M:%S}"
        if self.given_up:
            text += "; given up"
        elif self._wait:
            end = since + timedelta(seconds=self._wait)
            text += f"; the run ends at {end:%H:%M:%S} (-executorwait {self._wait:g})"
        return text

    @property
    def _state(self) -> str:
        if self.ready:
            return "nothing comes back from the executor"
        return "no executor yet" if self._executor is None else "no worker answers"

    def finish_games(self) -> None:
        """Take back the calls that are known not to run."""
        self._leaving = True
        inners = {call: call.inner for call in list(self._calls)}
        if any(inner is not None and inner.running() for inner in inners.values()):
            for call, inner in inners.items():
                if inner is None:
                    self._give_up(call)
                else:
                    inner.cancel()

    def close(self) -> str | None:
        """End the executor, whose calls are done; returns what is wrong with its end."""
        self._leaving = True
        trouble = self._end(wait=self.ready)
        lender.close()  # Those of threads of this process.
        return trouble

    def kill(self) -> None:
        """End the executor as soon as it can be ended."""
        self._leaving = True
        if self._calls or not self._arrival.done():
            _abandoned.set()
        self._give_up_calls()
        self._end(wait=False)
        lender.close()

    def _give_up_calls(self) -> None:
        """Let the runner have back what the executor still has."""
        for call in list(self._calls):
            self._give_up(call)

    def _end(self, wait: bool) -> str | None:
        """Shut the executor down, if there is one; returns why that failed."""
        self._feed.put(None)
        if self._executor is None:
            return None
        failures: list[str] = []
        words = (self._executor, wait, failures)
        thread = threading.Thread(target=_shut_down, args=words, daemon=True)
        thread.start()
        if wait:
            thread.join(END_SECONDS)
            if thread.is_alive():
                _abandoned.set()
                return "the executor does not shut down"
        return f"the executor does not shut down: {failures[0]}" if failures else None


def _shut_down(executor: Executor, wait: bool, failures: list[str]) -> None:
    try:
        if wait:
            executor.shutdown()
            return
        try:
            executor.shutdown(wait=False, cancel_futures=True)
        except TypeError:  # Dask's executor does not know this argument, and cancels unasked.
            executor.shutdown(wait=False)
    except Exception as error:
        failures.append(repr(error))


def leave_soon(status: int) -> None:
    """Have this process end after a while, if an executor was left to itself in it."""
    if _abandoned.is_set():
        timer = threading.Timer(END_SECONDS, _leave, (status,))
        timer.daemon = True
        timer.start()


def _leave(status: int) -> None:
    from multiprocessing import active_children

    for child in active_children():  # They may not notice that this process ends.
        child.kill()
    os._exit(status)
