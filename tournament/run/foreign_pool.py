"""Someone else's executor, of which nothing is known but what its futures tell.

Its workers may be absent, its scheduler lost, its client closed, and any call to it may block. So
it is made and shut down in threads of their own, is given no game before a worker has answered, and
is made anew when it breaks or cancels what it was given. A future that runs is a sign of life
however long it takes; that of Dask and of some others never tells that it does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any, TypeVar

from merels.tournament.run.worker_pool import Pool

T = TypeVar("T")
ExecutorFactory = Callable[[], Executor]

ANSWER_SECONDS = 5.0
"""How long the first answer of a worker may take before a person is told."""
SILENCE_SECONDS = 30.0
"""How long no game may come back before a person is told; longer where games take longer."""
RETRY_SECONDS = 1.0
"""The pause before another executor is asked for when the last one did nothing."""
END_SECONDS = 5.0
"""How long an executor may take to shut down, and after that this process to end."""
UNREACHABLE = (OSError, CancelledError, BrokenExecutor)
"""What is raised while an executor that worked before cannot be reached."""


_abandoned = threading.Event()
"""Set when something of an executor goes on that may keep this process from ending."""


def answer(attempt: int) -> int:
    """What a worker is asked first; the argument keeps an executor from knowing the result."""
    return attempt


class ForeignPool(Pool):
    """Hands calls to the executor that ``make`` returns, and notices that nobody works on them.

    ``wake`` is called, in any thread, when `check` has something to do. The run is given up when
    nothing has come back for ``wait`` seconds; 0: never.
    """

    foreign = True

    def __init__(self, make: ExecutorFactory, wake: Callable[[], None], wait: float) -> None:
        self._make, self._wake, self._wait = make, wake, wait
        self._executor: Executor | None = None
        self._attempts = 0
        self._calls: dict[Future[Any], tuple[Future[Any], float]] = {}
        """By what the runner holds: the executor's own future, and when the call was handed over.

        The runner's ends also where the executor's never does.
        """
        self._heard = monotonic()
        """When there was a sign of life."""
        self._longest = 0.0
        """The longest time that a call took to come back."""
        self._works = False
        """Whether this executor has brought something back."""
        self._loss = ""
        """Why a new executor is needed; empty: it is not."""
        self._leaving = False
        self._connect()

    def _connect(self, pause: float = 0.0) -> None:
        """Make an executor and wait until one of its workers answers, in a thread."""
        self.ready, self._works, self._executor = False, False, None
        self._attempts += 1
        self._arrival: Future[None] = Future()
        words = (pause, self._attempts, self._arrival)
        threading.Thread(target=self._await_worker, args=words, daemon=True).start()

    def _await_worker(self, pause: float, attempt: int, arrival: Future[None]) -> None:
        try:
            sleep(pause)
            executor = self._make()
            if self._leaving:
                executor.shutdown(wait=False)
            else:
                self._executor = executor
                error = executor.submit(answer, attempt).exception()
                if isinstance(error, BrokenExecutor):
                    raise error
                # Any other error is one worker's: pairs will tell whether the others have it too.
            arrival.set_result(None)
        except BaseException as error:
            arrival.set_exception(error)
        self._wake()

    def submit(self, fn: Callable[..., T], /, *args: Any) -> Future[T] | None:
        """Hand a call over; None where the executor does not take it, and a new one is needed."""
        assert self._executor is not None
        try:
            inner = self._executor.submit(fn, *args)
        except Exception as error:
            self.ready, self._loss = False, repr(error)
            return None
        outer: Future[T] = Future()
        self._calls[outer] = inner, monotonic()
        inner.add_done_callback(lambda _: self._come_back(outer))
        return outer

    def _come_back(self, outer: Future[Any]) -> None:
        """Take what the executor says of a call, in whatever thread."""
        if (call := self._calls.pop(outer, None)) is None:
            return  # Its executor was given up before.
        inner, began = call
        if inner.cancelled():
            if not self._leaving:
                self.ready, self._loss = False, "it has cancelled a pair of games"
            return _cancel(outer)
        self._heard = monotonic()
        self._longest = max(self._longest, self._heard - began)
        self._works, self.silent = True, False
        if (error := inner.exception()) is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())

    def check(self) -> str | None:
        """Replace an executor that is lost, and notice silence.

        Raises what the factory or the executor raises, where waiting would not help.
        """
        notice = None
        if self._loss:
            if self._works:
                notice = f"the executor is lost: {self._loss}; waiting for a new one"
            self._give_up_calls()
            self._end(wait=False)
            self._connect(0.0 if self._works else RETRY_SECONDS)
            self._loss = ""
        elif not self.ready and not self._leaving and self._arrival.done():
            error = self._arrival.exception()
            self.ready = error is None
            if self._attempts == 1:
                self._heard = monotonic()
            if error is not None:
                if self._attempts == 1 or not isinstance(error, UNREACHABLE):
                    raise error
                self._connect(RETRY_SECONDS)
        return self._listen() or notice

    def _listen(self) -> str | None:
        """Measure the silence; returns what to say of it, if it is time to."""
        now = monotonic()
        calls = [inner for inner, _ in list(self._calls.values())]
        if any(call.running() for call in calls) or self.ready and not calls:
            self._heard = now
        patience = max(SILENCE_SECONDS, 2 * self._longest) if self.ready else ANSWER_SECONDS
        if self._wait:
            patience = min(patience, self._wait / 2)
        silence = now - self._heard
        if self.deserted or silence < patience or self.silent and not 0 < self._wait <= silence:
            return None
        self.deserted, self.silent = self.silent or self._leaving, True
        since = datetime.now() - timedelta(seconds=silence)
        text = f"{self._state}, waiting since {since:%H:%M:%S}"
        if self.deserted:
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
        calls = [inner for inner, _ in list(self._calls.values())]
        if any(call.running() for call in calls):
            for call in calls:
                call.cancel()

    def close(self) -> str | None:
        """End the executor, whose calls are done; returns what is wrong with its end."""
        self._leaving = True
        return self._end(wait=self.ready)

    def kill(self) -> None:
        """End the executor as soon as it can be ended."""
        self._leaving = True
        if self._calls or not self._arrival.done():
            _abandoned.set()
        self._give_up_calls()
        self._end(wait=False)

    def _give_up_calls(self) -> None:
        """Let the runner have back what the executor still has."""
        for outer in list(self._calls):
            if self._calls.pop(outer, None) is not None:
                _cancel(outer)

    def _end(self, wait: bool) -> str | None:
        """Shut the executor down, if there is one; returns why that failed."""
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


def _cancel(future: Future[Any]) -> None:
    future.cancel()
    future.set_running_or_notify_cancel()


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
