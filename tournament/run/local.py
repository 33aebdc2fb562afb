"""Worker processes on this machine, which end with the runner.

They are spawned, because a fork would inherit locks. If one ends, only its call fails, and another
process replaces it at the next call. A worker and its engines can be pinned to cores.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from merels.tournament.play.engine_cache import MAX_IDLE_ENGINES
from merels.tournament.records.games import PairTask
from merels.tournament.run.pool import Pool
from merels.tournament.run.tasks import Event, Failed, Returned
from merels.tournament.run.worker import FINISH, QUIT, main as serve

QUIT_SECONDS = 10.0
"""Seconds that an idle worker may take to close its engines before it is killed."""
KILL_SECONDS = 2.0
"""Seconds that a worker whose pipe broke may take to exit before it is killed."""


class LocalWorkers(Pool):
    """``count`` worker processes, each for one call at a time.

    ``cpus``: the cores of each worker, repeated if there are more workers; empty: no worker is
    pinned. ``log``: a file for the traffic with the engines. ``watched``: workers also report the
    moves of games in progress. ``ahead``: pairs among which a worker may choose.
    """

    def __init__(
        self, count: int, cpus: Sequence[Sequence[int]] = (), log: str | None = None,
        watched: bool = False, ahead: int = 1,
    ) -> None:
        super().__init__()
        self.ahead = ahead
        self._workers = [
            _Worker(tuple(cpus[index % len(cpus)]) if cpus else (), log, watched)
            for index in range(count)
        ]
        self._failed: list[Event] = []
        """Calls that could not be sent."""

    @property
    def ready(self) -> bool:
        return not self._backoff.is_paused

    @property
    def has_room(self) -> bool:
        return self.ready and any(worker.call is None for worker in self._workers)

    def score(self, task: PairTask) -> int:
        running = self._next_free().engines[-MAX_IDLE_ENGINES:]
        return sum(name in running for name in task.engines)

    def _next_free(self) -> _Worker:
        return next(worker for worker in self._workers if worker.call is None)

    def give(self, call: int, function: Callable[..., Any], *arguments: Any) -> None:
        worker = self._next_free()
        try:
            worker.give(call, function, arguments)
        except OSError as error:
            worker.end(0.0)
            text = f"cannot start a worker process: {error}"
            self._failed.append(Failed(call, text, is_broken=True))

    def events(self, timeout: float) -> Iterator[Event]:
        if self._failed:
            failed, self._failed = self._failed, []
            yield from failed
            return
        by_link = {worker.link: worker for worker in self._workers if worker.link is not None}
        for link in wait(list(by_link), timeout):
            assert isinstance(link, Connection)
            yield from by_link[link].receive()

    def recover(self, why: str) -> None:
        """Make no calls for a pause, because calls fail with the error ``why``.

        The pause doubles until `note_work` is called; at last the pool is given up.
        """
        self._backoff.fail()
        if self._backoff.is_exhausted:
            self.given_up = True
            times = f"{self._backoff.failures} times in a row"
            self._notices.append(f"the workers failed {times}: {why}; given up")

    def finish_games(self) -> None:
        for worker in self._workers:
            worker.send(FINISH)

    def close(self) -> str | None:
        for worker in self._workers:
            worker.send(QUIT)
        for worker in self._workers:
            worker.end(QUIT_SECONDS)
        return None

    def kill(self) -> None:
        for worker in self._workers:
            worker.end(0.0)


class _Worker:
    """A worker process, started at its first call and again after it has ended."""

    def __init__(self, cpus: tuple[int, ...], log: str | None, watched: bool) -> None:
        self._arguments = cpus, log, watched
        self._process: SpawnProcess | None = None
        self._is_finishing = False
        self.link: Connection | None = None
        self.call: int | None = None
        """Number of the call in progress, or None."""
        self.engines: list[str] = []
        """Names of the engines that the process has started, the most recently used last."""

    def give(self, call: int, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        """Send a call, after starting a process if necessary; raise `OSError` if that fails."""
        if self.link is None:
            self._start()
        assert self.link is not None
        self.call = call
        self.link.send((call, function, arguments))
        for task in arguments:
            if isinstance(task, PairTask):
                kept = [name for name in self.engines if name not in task.engines]
                self.engines = [*kept, *task.engines]

    def _start(self) -> None:
        context = get_context("spawn")
        self.link, end = context.Pipe()
        self._process = context.Process(
            target=serve, args=(end, *self._arguments), daemon=True
        )
        try:
            with _blocked_interrupts():
                self._process.start()
        finally:
            end.close()
        if self._is_finishing:
            self.send(FINISH)

    def send(self, request: object) -> None:
        """Send `FINISH` or `QUIT`. A process that is started later gets `FINISH`."""
        self._is_finishing = True
        if self.link is not None:
            # `receive` detects that the worker has ended.
            with contextlib.suppress(OSError):
                self.link.send(request)

    def receive(self) -> Iterator[Event]:
        """Yield the next event, which has arrived, or the failure of the call if there is none."""
        assert self.link is not None
        try:
            event = self.link.recv()
        except (OSError, EOFError):
            call = self.call
            end = self.end(KILL_SECONDS)
            if call is not None:
                yield Failed(call, f"a worker process ended{end}", is_broken=True)
            return
        if isinstance(event, Returned | Failed):
            self.call = None
        yield event

    def end(self, patience: float) -> str:
        """Wait until the process has exited, kill it after ``patience`` seconds; return its end."""
        process, link = self._process, self.link
        self._process = self.link = self.call = None
        self.engines = []
        if process is None or link is None:
            return ""
        if process.pid is not None:
            process.join(patience)
            if process.is_alive():
                _kill_group(process)
            process.join()
        link.close()
        code = process.exitcode
        if code is None or code == 0:
            return ""
        return f" ({signal.Signals(-code).name})" if code < 0 else f" (exit code {code})"


def _kill_group(process: SpawnProcess) -> None:
    """Kill a worker and the process group that it leads."""
    assert process.pid is not None
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


@contextlib.contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block Ctrl-C in a process that is started, until it leads a session of its own."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # The first process would start it, and it unblocks Ctrl-C.
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
