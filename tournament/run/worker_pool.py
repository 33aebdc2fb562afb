"""The local executor: worker processes that outlive neither the runner nor each other's crashes.

The standard `ProcessPoolExecutor` gives up all its workers when one dies, and tells nothing of a
call before it returns. Here a worker that dies takes only its own call with it and is replaced by
a fresh process (never a fork, which would inherit locks); it may be pinned to a core, with the
engines that it starts, and it reports each game at once.
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
from merels.tournament.run.retries import TRIES, Backoff
from merels.tournament.run.tasks import Place

T = TypeVar("T")
LEAVE_SECONDS = 10.0
"""How long an idle worker may take to close its engines before it is killed."""
KILL_SECONDS = 2.0
"""How long a worker whose pipes broke may take to end before it is killed."""


class CallFailed(Exception):
    """A call raised in its worker; the text is the traceback."""


class Pool:
    """The runner's view of its workers, beside the calls that they take.

    When calls fail without a game in between, `renew` makes a pause, which doubles each time, and
    ends the run after `TRIES` of them.
    """

    foreign = False
    """Whether games are reported only by futures, and one failure may take other calls with it."""
    ahead = 0
    """Extra tasks queued so that no worker idles."""
    ready = True
    """Whether calls can be handed over."""
    silent = False
    """Whether the stall was reported."""
    given_up = False
    """Whether to wait for workers no longer."""

    def __init__(self) -> None:
        self._backoff = Backoff()
        self._notices: list[str] = []

    def renew(self, why: str) -> None:
        """Try again after a pause, since calls fail; nothing is handed over before."""
        self.ready = False
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            self._notices.append(f"the workers failed {TRIES} times in a row: {why}; given up")

    def note_work(self) -> None:
        """Note that a worker did what it was asked to."""
        self._backoff.reset()

    def occupy(self, places: frozenset[Place]) -> None:
        """Keep these workers busy for a while, as far as they can be reached."""

    def check(self) -> list[str]:
        """Look after the workers, several times a second; returns what a person should know."""
        if not self.ready and not self.given_up and not self._backoff.rests:
            self.ready = True
        notices, self._notices = self._notices, []
        return notices


class LocalPool(Pool, Executor):
    """``workers`` processes; ``report`` gets what their calls report, in a thread of the pool's.

    ``cpus``: the cores to pin each worker to, in turn; empty: none is pinned. ``log`` is
    a file for the traffic with the engines. ``watched``: games in progress are reported as well.
    ``ahead`` is how many calls wait, from which workers take those that suit their engines.
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
        """Call a picklable function in the next free worker."""
        future: Future[T] = Future()
        self._queue.put(future, Call(fn, args, kwargs))
        return future

    def finish_games(self) -> None:
        """Let the games in progress end; calls leave out the games that they have not started."""
        self._queue.cancel()
        for slot in self._slots:
            slot.leave(quit=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers and their engines as they become free."""
        if cancel_futures:
            self._queue.cancel()
        self._queue.close()
        if wait:
            for thread in self._threads:
                thread.join()

    def close(self) -> str | None:
        """End the workers, whose calls are done."""
        self.shutdown()
        return None

    def kill(self) -> None:
        """End the workers now, and so their engines; calls in progress raise `BrokenExecutor`."""
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
                # Whatever it is: who waits for the call must learn of it.
                future.set_exception(error)
            else:
                future.set_result(value)
        slot.leave(quit=True)
        slot.reap(LEAVE_SECONDS)


class _Slot:
    """A place for one worker process, started when first needed and again after a crash."""

    def __init__(self, cpus: Sequence[int], log: str | None, watched: bool) -> None:
        pinned = ",".join(map(str, cpus)) or "-"
        words = (pinned, log or "-", "watched" if watched else "-")
        self._command = [sys.executable, "-P", "-m", "merels.tournament.run.worker", *words]
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.history = EngineHistory()

    def call(self, call: Call, report: Callable[[Any], None]) -> Any:
        """The value of a call; ``report`` gets what it reports before.

        `CallFailed` where it raises, `BrokenExecutor` where no worker can be started or it ends.
        After any other error, such as a call that cannot be pickled, the worker is replaced.
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
        """Hand a call to the worker, which is started if there is none."""
        with self._lock:
            if self._closed:
                raise EOFError("the pool is closed")
            if self._link is None:
                try:
                    # Ctrl-C reaches no other session, and on Windows no other group.
                    self._process = subprocess.Popen(
                        self._command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        start_new_session=True, creationflags=OWN_GROUP,
                    )
                except OSError as error:
                    raise BrokenExecutor(f"cannot start a worker process: {error}") from None
                assert self._process.stdin is not None and self._process.stdout is not None
                self._link = Link(self._process.stdout.fileno(), self._process.stdin.fileno())
            self._link.send(call)
            return self._link

    def leave(self, quit: bool) -> None:
        """Tell the worker, if there is one, to begin no further game."""
        with self._lock:
            if self._link is not None:
                # One that is gone is noticed by the thread that waits for its answer.
                with contextlib.suppress(OSError):
                    self._link.send(Leave(quit))

    def kill_worker(self) -> None:
        """Kill the worker now, and for good; its thread buries it."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                _kill_group(self._process)

    def reap(self, patience: float) -> None:
        """Wait that many seconds for the worker's end, kill it if it takes longer, and clean up."""
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
    """Kill a worker that was not waited for yet, and what shares its process group."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
