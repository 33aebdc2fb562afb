"""Long-running jobs (search, perft, benchmark) and their worker thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import NoReturn

from merels.engine.game.position import Position
from merels.engine.search.clock import Clock
from merels.engine.search.limits import Info, Limit
from merels.engine.tools.perft import write_divide
from merels.engine.tools.show import bench_lines
from merels.protocol.uci.go_command import Go
from merels.protocol.uci.session_engine import SessionEngine
from merels.protocol.uci.streams import Output
from merels.protocol.uci.wording import Uci


class Job(ABC):
    """The work of one command; `run` returns its last lines of output."""

    grace_seconds = 0.0
    """Time for which the job continues after a command that ends it, in seconds."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.clock = Clock()
        """Receives the client's signals to the job."""

    @abstractmethod
    def run(self) -> Sequence[str]:
        """Do the work on the worker's thread, and return its last lines of output."""

    def outlasts_input(self) -> bool:
        """Return whether the job runs to its end although the client's input has ended."""
        return False

    def stop_later(self) -> None:
        """Stop the job after ``grace_seconds``, without waiting."""
        if self.grace_seconds:
            timer = threading.Timer(self.grace_seconds, self.clock.stop)
            timer.daemon = True
            with suppress(RuntimeError):
                timer.start()
                return
        self.clock.stop()

    def report_failure(self, error: Exception) -> None:
        """Report an error in `run`."""
        self.output.error(error)


class Search(Job):
    """The search of one ``go`` command, which ends with one ``bestmove``.

    ``asked`` is the time at which ``go`` was read (`core.monotonic_ns`).
    """

    def __init__(
        self, output: Output, engine: SessionEngine, position: Position, go: Go, dialect: Uci,
        asked: int,
    ) -> None:
        super().__init__(output)
        self._engine, self._position, self._go, self._dialect = engine, position, go, dialect
        self._asked = asked

    def outlasts_input(self) -> bool:
        go = self._go
        awaits_signal = go.infinite or go.ponder and self.clock.hit is None
        return go.limit.ends(self._position.side) and not awaits_signal

    def run(self) -> Sequence[str]:
        """Return the ``bestmove`` line."""
        for complaint in self._go.complaints:
            self.output.error(complaint)
        go, engine, searcher = self._go, self._engine, self._engine.searcher
        settings = engine.settings
        show_wdl = settings.flag("UCI_ShowWDL")

        def report(info: Info) -> None:
            self.output.write(self._dialect.info(info, show_wdl))

        if go.root_moves == ():
            # No move after ``searchmoves`` is legal. Other moves are not searched in their place.
            self.clock.begin(
                Limit(), self._position.side, infinite=go.infinite, ponder=go.ponder
            )
            self.clock.wait()
            return "info depth 0 score cp 0", self._dialect.bestmove(None, None)
        untimed = go.limit.untimed and not (go.infinite or go.ponder)
        engine.prepare(wait=untimed, stopped=lambda: self.clock.stopped)
        result = searcher.search(
            self._position,
            go.limit,
            report,
            root_moves=go.root_moves or (),
            infinite=go.infinite,
            ponder=go.ponder,
            multipv=settings.number("MultiPV"),
            overhead=settings.number("Move Overhead") / 1000,
            level=engine.level,
            clock=self.clock,
            asked=self._asked,
        )
        if result.missing:
            used = searcher.threads - result.missing
            self.output.error(f"the system allows only {used} of {searcher.threads} threads")
        if result.interrupted:
            self.output.note(f"depth {(result.info.depth or 0) + 1} was cut short")
        return (self._dialect.bestmove(result.move, result.ponder),)

    def report_failure(self, error: Exception) -> NoReturn:
        """End the process: a ``bestmove`` without a search would hide the fault from the client."""
        self.output.fail(error)


class Perft(Job):
    """Counts the move sequences of ``depth`` plies that begin with each legal move."""

    grace_seconds = 2.0
    """A script may send ``quit`` right after ``go perft 5``, and expect the count."""

    def __init__(self, output: Output, position: Position, depth: int) -> None:
        super().__init__(output)
        self._position, self._depth = position, depth

    def run(self) -> Sequence[str]:
        """Write each move's count, and return the line with the sum."""
        total = write_divide(
            self._position, self._depth, self.output.write, lambda: self.clock.stopped
        )
        if self.clock.stopped:
            self.output.note("the count was stopped, so the sum is incomplete")
        return "", f"Nodes searched: {total}"


class Bench(Job):
    """Runs the benchmark, which uses its own searcher, and is stopped between two positions."""

    grace_seconds = 10.0
    """A script may send ``quit`` right after ``bench``, and expect the result."""

    def outlasts_input(self) -> bool:
        return True

    def run(self) -> Sequence[str]:
        """Run the benchmark, and return the lines of its result."""
        from merels.engine.tools.bench import run

        result = run(stopped=lambda: self.clock.stopped)
        if self.clock.stopped:
            self.output.note("the benchmark was stopped")
            return ()
        return bench_lines(*result)


class Worker:
    """Runs jobs one after another on its own thread, and writes the last lines of each.

    The thread starts with the first job and runs until `close`. On a busy machine, a new thread for
    each job would wait a millisecond for its first time slice, which is longer than many searches.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._thread: threading.Thread | None = None
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        """Unfinished jobs, the running one first; without a job whose last lines are written."""
        self._idle = threading.Event()
        self._idle.set()

    @property
    def job(self) -> Job | None:
        """The last job that was started, or None if all jobs have ended."""
        with self._lock:
            return self._jobs[-1] if self._jobs else None

    def start(self, job: Job) -> None:
        """Start ``job`` after the previous jobs, which end after their `Job.grace_seconds`.

        If the system allows no thread, call `Job.report_failure`.
        """
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="worker")
            try:
                thread.start()
            except RuntimeError as error:
                job.report_failure(error)
                return
            self._thread = thread
        with self._lock:
            previous = list(self._jobs)
            self._jobs.append(job)
            self._idle.clear()
        for each in previous:
            each.stop_later()
        self._queue.put(job)

    def stop(self) -> None:
        """Stop all jobs."""
        with self._lock:
            jobs = list(self._jobs)
        for job in jobs:
            job.clock.stop()

    def end_jobs(self, at_once: bool = False, timeout: float | None = None) -> bool:
        """Stop all jobs after their `Job.grace_seconds`, or ``at_once``, and wait for their end.

        Return whether the jobs ended within ``timeout`` seconds of the stop.
        """
        if not at_once:
            with self._lock:
                grace = max((job.grace_seconds for job in self._jobs), default=0.0)
            self._idle.wait(grace)
        self.stop()
        return self.join(timeout)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the last lines are written; return whether ``timeout`` seconds sufficed."""
        return self._idle.wait(timeout)

    def close(self) -> None:
        """End the thread after its jobs."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            lines: Sequence[str] = ()
            try:
                lines = job.run()
            except Exception as error:
                job.report_failure(error)
            # Removed before the last lines are written, because the client may reply at once.
            with self._lock:
                self._jobs.remove(job)
            self._output.write(*lines)
            with self._lock:
                if not self._jobs:
                    self._idle.set()
