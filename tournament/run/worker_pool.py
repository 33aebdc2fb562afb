"""The local executor: a pool of worker processes that end with the runner.

The standard `ProcessPoolExecutor` breaks when one worker dies, and cannot report before a call
returns. Here only the call of the dead worker fails, and a new process replaces the worker. Workers
are not forked, because a fork would inherit locks. A worker and its engines can be pinned to cores.
Each game is reported immediately.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, TypeVar

from merels.protocol.process.guardian import OWN_GROUP
from merels.tournament.run.call_queue import CallQueue, EngineHistory
from merels.tournament.run.channel import Call, Leave, Link, Report
from merels.tournament.run.retries import MAX_FAILURES, Backoff
from merels.tournament.run.tasks import Place

T = TypeVar("T")
LEAVE_SECONDS = 10.0
"""Seconds that an idle worker may take to close its engines before it is killed."""
KILL_SECONDS = 2.0
"""Seconds that a worker whose pipes broke may take to exit before it is killed."""


class CallFailed(Exception):
    """An exception in a worker; the text is its traceback."""


class Pool:
    """The part that local and foreign pools share."""

    foreign = False
    """Whether the workers belong to a user's executor, which reports games as calls return."""
    ahead = 0
    """Extra tasks queued so that no worker idles."""
    ready = True
    """Whether calls can be submitted."""
    silent = False
    """Whether the pool is stalled, and a notice has reported this."""
    given_up = False
    """Whether the run ends because no worker can play."""

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._notices: list[str] = []

    def renew(self, why: str) -> None:
        """Refuse calls for a pause, because calls fail with the error ``why``.

        The pause doubles with each call of `renew` until `note_work` is called. The
        `MAX_FAILURES`-th such call gives the pool up.
        """
        self.ready = False
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            times = f"{MAX_FAILURES} times in a row"
            self._notices.append(f"the workers failed {times}: {why}; given up")

    def note_work(self) -> None:
        """Record that a worker played a game or completed a trial."""
        self._backoff.reset()

    def occupy(self, places: frozenset[Place]) -> None:
        """Keep these workers busy for a while, so that others take the next tasks."""

    def check(self) -> list[str]:
        """Update the state of the pool and return notices; called several times a second."""
        if not self.ready and not self.given_up and not self._backoff.is_paused:
            self.ready = True
        notices, self._notices = self._notices, []
        return notices


class LocalPool(Pool, Executor):
    """A pool of ``workers`` local processes; see `Pool` for ``ahead``.

    ``report`` receives the content of each `Report`, in a thread of the pool. ``cpus``: the cores
    of each worker, repeated if there are more workers; empty: no worker is pinned. ``log``: a file
    for the traffic with the engines. ``watched``: the moves of games in progress are reported.
    """

    def __init__(
        self, workers: int, report: Callable[[Any], None],
        cpus: Sequence[Sequence[int]] = (), log: str | None = None, watched: bool = False,
        ahead: int = 1,
    ) -> None:
        super().__init__()
        self.ahead = ahead
        self._report = report
        self._queue = CallQueue(2 * ahead)
        self._slots = [
            _Slot(cpus[index % len(cpus)] if cpus else (), log, watched)
            for index in range(workers)
        ]
        self._threads = [
            threading.Thread(target=self._serve, args=(slot,), daemon=True) for slot in self._slots
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a picklable function in a free worker."""
        future: Future[T] = Future()
        self._queue.put(future, Call(fn, args, kwargs))
        return future

    def withdraw(self) -> None:
        """Cancel the queued calls."""
        self._queue.cancel()

    def finish_games(self) -> None:
        """Cancel the queued calls, and have running calls return after the game in progress."""
        self.withdraw()
        for slot in self._slots:
            slot.ask_to_leave(quit=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers and their engines after the last call; ``wait`` until they have ended."""
        if cancel_futures:
            self._queue.cancel()
        self._queue.close()
        if wait:
            for thread in self._threads:
                thread.join()

    def close(self) -> str | None:
        """End the workers after their last call; return a notice if that fails."""
        self.shutdown()
        return None

    def kill(self) -> None:
        """Kill the workers and their engines; calls in progress raise `BrokenExecutor`."""
        self._queue.cancel()
        for slot in self._slots:
            slot.kill_worker()
        self.shutdown()

    def _serve(self, slot: _Slot) -> None:
        """Run calls in one worker until the pool shuts down."""
        while (item := self._queue.take(slot.history)) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                value = slot.call(call, self._report)
            except BaseException as error:
                # Even KeyboardInterrupt belongs into the future, or its caller waits forever.
                future.set_exception(error)
            else:
                future.set_result(value)
        slot.ask_to_leave(quit=True)
        slot.reap(LEAVE_SECONDS)


class _Slot:
    """One worker process of the pool, started at its first call and again after a crash."""

    def __init__(self, cpus: Sequence[int], log: str | None, watched: bool) -> None:
        pinned = ",".join(map(str, cpus)) or "-"
        arguments = (pinned, log or "-", "watched" if watched else "-")
        self._command = [sys.executable, "-P", "-m", "merels.tournament.run.worker", *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._is_leaving = self._is_closed = False
        self.history = EngineHistory()

    def call(self, call: Call, report: Callable[[Any], None]) -> Any:
        """Make a call in the worker and return its value; pass its reports to ``report``.

        Raise `CallFailed` if the function raises, and `BrokenExecutor` if the worker cannot be
        started or ends. After any other error, such as a call that cannot be pickled, the worker is
        replaced.
        """
        try:
            link = self._send(call)
            while isinstance(answer := link.receive(), Report):
                report(answer.content)
        except (OSError, EOFError) as error:
            self.reap(KILL_SECONDS)
            raise BrokenExecutor(f"a worker process ended: {error}") from None
        except BaseException:
            self.reap(0.0)
            raise
        if answer.failure is not None:
            raise CallFailed(answer.failure)
        return answer.value

    def _send(self, call: Call) -> Link:
        """Send a call to the worker, after starting one if necessary, and return its link."""
        with self._lock:
            if self._is_closed:
                raise EOFError("the pool is closed")
            if self._link is None:
                try:
                    # In a session (Windows: group) of its own the worker does not get Ctrl-C.
                    self._process = subprocess.Popen(
                        self._command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        start_new_session=True, creationflags=OWN_GROUP,
                    )
                except OSError as error:
                    raise BrokenExecutor(f"cannot start a worker process: {error}") from None
                assert self._process.stdin is not None and self._process.stdout is not None
                self._link = Link(self._process.stdout.fileno(), self._process.stdin.fileno())
                if self._is_leaving:
                    self._link.send(Leave(quit=False))
            self._link.send(call)
            return self._link

    def ask_to_leave(self, quit: bool) -> None:
        """Ask the worker to start no further game; with ``quit``, to exit.

        A worker that is started later is asked, too: its call was taken before.
        """
        with self._lock:
            self._is_leaving = True
            if self._link is not None:
                # The thread that waits for the worker's answer detects that it has ended.
                with contextlib.suppress(OSError):
                    self._link.send(Leave(quit))

    def kill_worker(self) -> None:
        """Kill the worker and start no other; the thread in `call` reaps the process."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                _kill_group(self._process)

    def reap(self, patience: float) -> None:
        """Close the worker's pipes once it has exited; kill it after ``patience`` seconds."""
        with self._lock:
            process, self._process, self._link = self._process, None, None
        self.history.clear()
        if process is None:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and its process group; the worker must not have been reaped yet."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
