"""A user-supplied `concurrent.futures.Executor`.

Such an executor may have no workers, lose its scheduler, or close its client. A future may fail, or
complete late, twice or never. Any call of the executor may block. Therefore separate threads create
the executor, submit calls and shut it down, and it gets no game before a worker has returned a test
call.

An executor is replaced when it breaks, cancels a call, or fails several calls in a row. A finished
game or trial resets the count of failures and the stall timer. A ready pool does not count as
stalled while no call is open, or while a future reports `running()`, which Dask's futures never do.
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

from merels.tournament.run.retries import MAX_FAILURES
from merels.tournament.run.tasks import Place, lender, stay_busy
from merels.tournament.run.worker_pool import Pool

T = TypeVar("T")
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

_numbers = itertools.count(1)
"""Last argument of each call, because Dask answers equal calls from its cache."""
_abandoned = threading.Event()
"""Set when threads or processes of an executor may keep this process from exiting."""


def answer(number: int) -> int:
    """Return ``number``: the test call that shows that a worker runs."""
    return number


@dataclass(eq=False, slots=True)
class _Call:
    """A call and its two futures."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    is_filler: bool = False
    """Whether the call only keeps a worker busy."""
    outer: Future[Any] = field(default_factory=Future)
    """The runner's future; it completes even if the executor's future never does."""
    inner: Future[Any] | None = None
    """The executor's future, once the call is submitted."""
    began: float = field(default_factory=monotonic)
    """Monotonic time of the runner's request, in seconds."""


class ForeignPool(Pool):
    """Submits calls to the executor that ``make`` returns, and detects stalls.

    ``wake`` is called from any thread when `check` should be called. The pool is given up after
    ``wait`` seconds without a finished game; 0: never.
    """

    foreign = True

    def __init__(self, make: ExecutorFactory, wake: Callable[[], None], wait: float) -> None:
        super().__init__()
        self._make, self._wake, self._wait = make, wake, wait
        self._executor: Executor | None = None
        self._feed: queue.SimpleQueue[_Call | None]
        """Calls to submit to the executor; None ends the submitting thread."""
        self._calls: set[_Call] = set()
        """Calls without a result; the thread that removes a call completes its outer future."""
        self._last_progress = monotonic()
        """Monotonic time, in seconds, from which a stall is measured."""
        self._longest_call = 0.0
        """Duration of the longest completed call, in seconds."""
        self._loss = ""
        """Reason to replace the executor; empty if it need not be replaced."""
        self._is_lost = False
        """Whether a notice has reported a lost executor that is not replaced yet."""
        self._is_ending = False
        """Whether the run is ending, so that no executor is replaced."""
        self._connect()

    def _connect(self, pause: float = 0.0) -> None:
        """Start a thread that creates an executor and waits until a worker answers."""
        self.ready, self._executor = False, None
        self._feed = queue.SimpleQueue()
        self._connected: Future[None] = Future()
        arguments = (pause, self._connected)
        threading.Thread(target=self._await_worker, args=arguments, daemon=True).start()

    def _await_worker(self, pause: float, connected: Future[None]) -> None:
        """Create an executor, make the test call, and complete ``connected``."""
        try:
            sleep(pause)
            executor = self._make()
            if self._is_ending:
                executor.shutdown(wait=False)
            else:
                self._executor = executor
                error = executor.submit(answer, next(_numbers)).exception()
                if isinstance(error, BrokenExecutor):
                    raise error
                # Any other error may concern only this worker; the calls for pairs will show it.
            connected.set_result(None)
        except BaseException as error:
            connected.set_exception(error)
        self._wake()

    def submit(self, fn: Callable[..., T], /, *args: Any) -> Future[T]:
        """Queue a call; its future is cancelled if the executor rejects or cancels the call."""
        return self._put(_Call(fn, args))

    def occupy(self, places: frozenset[Place]) -> None:
        """Submit a filler call, which keeps one of these workers busy if it takes the call.

        Do nothing if there is already a filler call for each of them.
        """
        if sum(call.is_filler for call in list(self._calls)) < len(places):
            self._put(_Call(stay_busy, (places,), is_filler=True))

    def _put(self, call: _Call) -> Future[Any]:
        self._calls.add(call)
        self._feed.put(call)
        return call.outer

    def _submit_calls(self, executor: Executor, feed: queue.SimpleQueue[_Call | None]) -> None:
        """Submit calls to the executor in a separate thread, because ``submit`` may block."""
        while (call := feed.get()) is not None:
            if call not in self._calls:
                continue  # The runner has already taken the call back.
            try:
                call.inner = executor.submit(call.function, *call.arguments, next(_numbers))
                call.inner.add_done_callback(partial(self._take_result, call))
            except BaseException as error:
                self._lose(executor, repr(error))
                self._give_up(call)

    def _take_result(self, call: _Call, inner: Future[Any]) -> None:
        """Process the executor's result of a call; runs in any thread."""
        if inner.cancelled():
            if not self._is_ending and call in self._calls:
                self._lose(self._executor, "it has cancelled a pair of games")
            self._give_up(call)
        elif self._claim(call):
            self._longest_call = max(self._longest_call, monotonic() - call.began)
            try:
                value = inner.result()
            except BaseException as error:  # The call's, or the executor's own, as for a lost node.
                call.outer.set_exception(error)
            else:
                call.outer.set_result(value)

    def _claim(self, call: _Call) -> bool:
        """Mark a call as completed; return whether it was not completed before."""
        try:
            self._calls.remove(call)
        except KeyError:  # The executor was given up, or returned the call twice.
            return False
        return True

    def _give_up(self, call: _Call) -> None:
        """Return a call without a result to the runner, as cancelled."""
        if self._claim(call):
            call.outer.cancel()
            call.outer.set_running_or_notify_cancel()

    def _lose(self, executor: Executor | None, why: str) -> None:
        """Record that an executor must be replaced, unless it has been replaced already."""
        if executor is self._executor:
            self.ready, self._loss = False, self._loss or why
        self._wake()

    def renew(self, why: str) -> None:
        """Have `check` replace the executor, because calls fail on it."""
        self._lose(self._executor, why)

    def note_work(self) -> None:
        super().note_work()
        self._last_progress = monotonic()
        if self.silent:
            self._notices.append("games come back from the executor again")
        self.silent = False

    def check(self) -> list[str]:
        """Replace a lost executor, detect a stall, and return notices for the user.

        Raise the error of the factory or of the first executor, if waiting would not help.
        """
        if self._loss:
            self._replace()
        elif not self.ready and not self._is_ending and self._connected.done():
            self._use_executor()
        if (notice := self._check_stall()) is not None:
            self._notices.append(notice)
        notices, self._notices = self._notices, []
        return notices

    def _replace(self) -> None:
        """Shut a lost executor down and create another after a pause, or give the pool up."""
        why, self._loss = self._loss, ""
        self._give_up_calls()
        self._end(wait=False)
        if self._is_ending:
            return
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            self._notices.append(f"{MAX_FAILURES} executors in a row have failed: {why}; given up")
            return
        if not self._is_lost:
            self._is_lost = True
            self._notices.append(f"the executor is lost: {why}; waiting for a new one")
        self._connect(self._backoff.seconds_left)

    def _use_executor(self) -> None:
        """Use a new executor or, if it cannot be used, create another or raise the error."""
        error, is_first = self._connected.exception(), not self._is_lost
        if is_first:
            self._last_progress = monotonic()
        if error is None:
            self.ready = True
            assert self._executor is not None
            arguments = (self._executor, self._feed)
            threading.Thread(target=self._submit_calls, args=arguments, daemon=True).start()
            if not is_first:
                self._is_lost = False
                self._notices.append("a new executor answers; the run continues")
        elif is_first:
            raise error
        elif self._executor is not None:  # The test call failed.
            self._loss = repr(error)
        elif isinstance(error, UNREACHABLE):
            self._connect(RETRY_SECONDS)
        else:
            raise error

    def _check_stall(self) -> str | None:
        """Return a notice if the executor has stalled for too long, else None."""
        now = monotonic()
        calls = [call.inner for call in list(self._calls) if not call.is_filler]
        is_running = any(inner is not None and inner.running() for inner in calls)
        if is_running or self.ready and not calls:
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
        return "no executor yet" if self._executor is None else "no worker answers"

    def withdraw(self) -> None:
        """Cancel the calls that are not running, if the executor reports which calls run."""
        self._is_ending = True
        inners = {call: call.inner for call in list(self._calls)}
        if any(inner is not None and inner.running() for inner in inners.values()):
            for call, inner in inners.items():
                if inner is None:
                    self._give_up(call)
                else:
                    inner.cancel()

    finish_games = withdraw

    def close(self) -> str | None:
        """Shut the executor down after its last call; return a notice if that fails."""
        self._is_ending = True
        trouble = self._end(wait=self.ready)
        lender.close()  # A thread pool runs its engines in this process.
        return trouble

    def kill(self) -> None:
        """Shut the executor down without waiting for its calls."""
        self._is_ending = True
        if self._calls or not self._connected.done():
            _abandoned.set()
        self._give_up_calls()
        self._end(wait=False)
        lender.close()

    def _give_up_calls(self) -> None:
        """Return all calls without a result to the runner."""
        for call in list(self._calls):
            self._give_up(call)

    def _end(self, wait: bool) -> str | None:
        """Shut the executor down, if there is one; return a notice if that fails."""
        self._feed.put(None)
        if self._executor is None:
            return None
        failures: list[str] = []
        arguments = (self._executor, wait, failures)
        thread = threading.Thread(target=_shut_down, args=arguments, daemon=True)
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
