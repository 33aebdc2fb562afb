"""A user-supplied `concurrent.futures.Executor`.

Such an executor may have no workers, lose its scheduler, or close its client. A future may fail, or
complete late, twice or never. Any call of the executor may block. Therefore one thread creates the
executor and submits calls, and another thread shuts it down. The executor gets no game before a
worker has returned a test call. Both threads, and the callbacks of futures, only put messages
into the queue that `ExecutorPool.events` reads.

An executor is replaced when it breaks, cancels a call, or fails several calls in a row. A finished
game or trial resets the count of failures and the stall timer. A ready pool does not count as
stalled while no call is open, or while a future reports `running()`, which Dask's futures never do.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from time import monotonic, sleep
from typing import Any

from merels.tournament.run.pool import Pool
from merels.tournament.run.tasks import (
    Event,
    Failed,
    PairReport,
    Place,
    Returned,
    lender,
    not_made,
    stay_busy,
)

ExecutorFactory = Callable[[], Executor]

ANSWER_SECONDS = 5.0
"""Seconds without an answer to the test call before a notice."""
SILENCE_SECONDS = 30.0
"""Seconds without a finished game before a notice, or twice the longest call if that is longer."""
RETRY_SECONDS = 1.0
"""Seconds before the factory is called again if it cannot reach its cluster."""
END_SECONDS = 5.0
"""Seconds that an executor may take to shut down, and this process to exit afterwards."""
UNREACHABLE = (OSError, CancelledError, BrokenExecutor)
"""Errors of a factory that cannot reach its cluster; the factory is then called again."""

FILLER = -1
"""Number of the calls of `stay_busy`, whose results are ignored."""

_numbers = itertools.count(1)
"""Last argument of each call, because Dask answers equal calls from its cache."""
_abandoned = threading.Event()
"""Set when threads or processes of an executor may keep this process from exiting."""


def answer(number: int) -> int:
    """Return ``number``: the test call that shows that a worker runs."""
    return number


@dataclass(eq=False, slots=True)
class _Call:
    """A call without a result."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Future[Any] | None = None
    """The executor's future, once the call is submitted."""
    is_taken_back: bool = False
    began: float = field(default_factory=monotonic)
    """Monotonic time of the runner's request, in seconds."""


class _Connection:
    """One executor and the thread that creates it, tests it and submits calls."""

    def __init__(self, make: ExecutorFactory, pause: float, post: Callable[..., None]) -> None:
        self._make, self._pause, self._post = make, pause, post
        self.executor: Executor | None = None
        self.is_closed = False
        self._feed: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def put(self, call: _Call) -> None:
        """Submit a call."""
        self._feed.put(call)

    def _run(self) -> None:
        try:
            sleep(self._pause)
            self.executor = executor = self._make()
            error = executor.submit(answer, next(_numbers)).exception()
            if isinstance(error, BrokenExecutor):
                raise error
            # Any other error may concern only this worker; the calls for pairs will show it.
        except BaseException as error:
            self._post(self, "connected", error)
            return
        finally:
            if self.is_closed and self.executor is not None:
                self.executor.shutdown(wait=False)
        self._post(self, "connected", None)
        while (call := self._feed.get()) is not None:
            if call.is_taken_back:
                continue
            try:
                call.future = executor.submit(call.function, *call.arguments, next(_numbers))
                call.future.add_done_callback(partial(self._finish, call))
            except BaseException as error:
                self._post(self, "lost", repr(error))

    def _finish(self, call: _Call, future: Future[Any]) -> None:
        self._post(self, "done", call)

    def shut_down(self, wait: bool) -> str | None:
        """Shut the executor down, if there is one; return a notice if that fails."""
        self.is_closed = True
        self._feed.put(None)
        if self.executor is None:
            return None
        failures: list[str] = []
        arguments = (self.executor, wait, failures)
        thread = threading.Thread(target=_shut_down, args=arguments, daemon=True)
        thread.start()
        if wait:
            thread.join(END_SECONDS)
            if thread.is_alive():
                _abandoned.set()
                return "the executor does not shut down"
        return f"the executor does not shut down: {failures[0]}" if failures else None


class ExecutorPool(Pool):
    """Submits up to ``window`` calls to the executor that ``make`` returns; detects stalls.

    The pool is given up after ``wait`` seconds without a finished game; 0: never.
    """

    foreign = True

    def __init__(self, make: ExecutorFactory, window: int, wait: float) -> None:
        super().__init__()
        self._make, self._window, self._wait = make, window, wait
        self._messages: queue.SimpleQueue[tuple[_Connection, str, Any]] = queue.SimpleQueue()
        self._calls: dict[int, _Call] = {}
        self._paused = set[Place]()
        """Workers whose last report returned a pair unplayed."""
        self._fillers = 0
        """Number of the calls of `stay_busy` without a result."""
        self._has_answered = False
        """Whether the executor has answered, so that calls can be made."""
        self._last_progress = monotonic()
        """Monotonic time, in seconds, from which a stall is measured."""
        self._longest_call = 0.0
        """Duration of the longest completed call, in seconds."""
        self._is_lost = False
        """Whether a notice has reported a lost executor that is not replaced yet."""
        self._is_ending = False
        """Whether the run is ending, so that no executor is replaced."""
        self._connect(0.0)

    def _connect(self, pause: float) -> None:
        self._has_answered = False
        self._connection = _Connection(self._make, pause, self._post)

    def _post(self, connection: _Connection, what: str, content: Any) -> None:
        """Queue a message for `events`; called from any thread."""
        self._messages.put((connection, what, content))

    @property
    def ready(self) -> bool:
        return self._has_answered

    @property
    def has_room(self) -> bool:
        return self.ready and len(self._calls) < self._window

    def give(self, call: int, function: Callable[..., Any], *arguments: Any) -> None:
        """Submit a call, after one that keeps a worker with a paused engine busy."""
        if self._fillers < len(self._paused):
            self._fillers += 1
            self._connection.put(_Call(FILLER, stay_busy, ()))
        self._calls[call] = _Call(call, function, arguments)
        self._connection.put(self._calls[call])

    def events(self, timeout: float) -> Iterator[Event]:
        """Yield the events of the executor; wait up to ``timeout`` seconds for the first one.

        Raise the error of the factory or of the first executor, if waiting would not help.
        """
        try:
            connection, what, content = self._messages.get(timeout=timeout)
        except queue.Empty:
            return
        if connection is not self._connection:
            return  # This executor was given up.
        if what == "done":
            yield from self._take_result(content)
        elif what == "connected":
            yield from self._use_executor(content)
        else:
            yield from self._replace(content)

    def _take_result(self, call: _Call) -> Iterator[Event]:
        self._fillers -= call.number == FILLER
        if self._calls.get(call.number) is not call:
            return  # The executor returned the call twice.
        del self._calls[call.number]
        future = call.future
        if call.is_taken_back or future is None or future.cancelled():
            yield not_made(call.number)
            if not self._is_ending:
                yield from self._replace("it has cancelled a pair of games")
            return
        self._longest_call = max(self._longest_call, monotonic() - call.began)
        event: Event
        try:
            report = future.result()
            if isinstance(report, PairReport):
                note = self._paused.add if report.is_unplayed else self._paused.discard
                note(report.place)
            event = Returned(call.number, report)
        except BaseException as error:  # The call's, or the executor's own, as for a lost node.
            text = (str(error).strip() or repr(error)).splitlines()[-1]
            event = Failed(call.number, text, isinstance(error, BrokenExecutor))
        yield event

    def _use_executor(self, error: BaseException | None) -> Iterator[Event]:
        """Use a new executor or, if it cannot be used, create another or raise the error."""
        is_first = not self._is_lost
        if self._is_ending:
            return
        if is_first:
            self._last_progress = monotonic()
        if error is None:
            self._has_answered = True
            if not is_first:
                self._is_lost = False
                self._notices.append("a new executor answers; the run continues")
        elif is_first:
            raise error
        elif self._connection.executor is not None:  # The test call failed.
            yield from self._replace(repr(error))
        elif isinstance(error, UNREACHABLE):
            self._connect(RETRY_SECONDS)
        else:
            raise error

    def recover(self, why: str) -> None:
        self._post(self._connection, "lost", why)
        self._has_answered = False

    def _replace(self, why: str) -> Iterator[Event]:
        """Shut a lost executor down and create another after a pause, or give the pool up."""
        yield from self._take_back()
        self._has_answered = False
        self._connection.shut_down(wait=False)
        if self._is_ending:
            return
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            count = self._backoff.failures
            self._notices.append(f"{count} executors in a row have failed: {why}; given up")
            return
        if not self._is_lost:
            self._is_lost = True
            self._notices.append(f"the executor is lost: {why}; waiting for a new one")
        self._connect(self._backoff.until - monotonic())

    def _take_back(self) -> Iterator[Event]:
        """Return all calls without a result to the runner."""
        calls, self._calls, self._paused, self._fillers = self._calls, {}, set(), 0
        yield from map(not_made, calls)

    def note_work(self) -> None:
        super().note_work()
        self._last_progress = monotonic()
        if self.silent:
            self._notices.append("games come back from the executor again")
        self.silent = False

    def check(self) -> list[str]:
        if (notice := self._check_stall()) is not None:
            self._notices.append(notice)
        return super().check()

    def _check_stall(self) -> str | None:
        """Return a notice if the executor has stalled for too long, else None."""
        now = monotonic()
        if self._is_any_running or self.ready and not self._calls:
            self._last_progress = now
        patience = max(SILENCE_SECONDS, 2 * self._longest_call) if self.ready else ANSWER_SECONDS
        if self._wait:
            patience = min(patience, self._wait / 2)
        silence = now - self._last_progress
        if self.given_up or silence < patience or self.silent and not 0 < self._wait <= silence:
            return None
        self.given_up, self.silent = self.silent or self._is_ending, True
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
        return "no executor yet" if self._connection.executor is None else "no worker answers"

    @property
    def _is_any_running(self) -> bool:
        futures = (call.future for call in self._calls.values())
        return any(future is not None and future.running() for future in futures)

    def withdraw(self) -> None:
        """Cancel the calls that are not running, if the executor reports which calls run."""
        self._is_ending = True
        if self._is_any_running:
            for call in self._calls.values():
                if call.future is None:
                    call.is_taken_back = True
                    self._post(self._connection, "done", call)
                else:
                    call.future.cancel()

    def close(self) -> str | None:
        """Shut the executor down after its last call; return a notice if that fails."""
        self._is_ending = True
        trouble = self._connection.shut_down(wait=self.ready)
        lender.close()  # A thread pool runs its engines in this process.
        return trouble

    def kill(self) -> None:
        self._is_ending = True
        is_idle = self.ready and not self._calls
        if not is_idle:
            _abandoned.set()
        # An idle process pool that is still shutting down while this process exits may print a
        # traceback.
        self._connection.shut_down(wait=is_idle)
        lender.close()


def _shut_down(executor: Executor, wait: bool, failures: list[str]) -> None:
    try:
        if wait:
            executor.shutdown()
            return
        try:
            executor.shutdown(wait=False, cancel_futures=True)
        except TypeError:  # Dask's executor has no `cancel_futures` and always cancels.
            executor.shutdown(wait=False)
    except Exception as error:
        failures.append(repr(error))


def leave_soon(status: int) -> None:
    """Exit with ``status`` after `END_SECONDS`, if an executor could not be shut down."""
    if _abandoned.is_set():
        timer = threading.Timer(END_SECONDS, _leave, (status,))
        timer.daemon = True
        timer.start()


def _leave(status: int) -> None:
    from multiprocessing import active_children

    for child in active_children():  # Children may not detect that this process ends.
        child.kill()
    os._exit(status)
