"""Long-running jobs (search, perft, benchmark) and their worker thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from queue import SimpleQueue

from merels.engine.game.position import Position
from merels.engine.search.limits import Info, Limit
from merels.engine.search.signals import Signals
from merels.engine.search.time_management import TimeManager
from merels.engine.tools.perft import divide
from merels.engine.tools.show import bench_lines
from merels.protocol.uci.go_command import Go
from merels.protocol.uci.player import Player
from merels.protocol.uci.streams import Output
from merels.protocol.uci.wording import Uci


class Job(ABC):
    """The work of one command; `run` returns its last lines of output."""

    grace_seconds = 0.0
    """Time for which a command or the end of input waits before it stops the job, in seconds."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.signals = Signals()
        """Signals from the client to the job."""

    @abstractmethod
    def run(self) -> Sequence[str]:
        """Do the work on the worker's thread, and return its last lines of output."""

    def outlasts_input(self) -> bool:
        """Return whether the job runs to its end although the client's input has ended."""
        return False

    def report_failure(self, error: Exception) -> Sequence[str]:
        """Report an error in `run`, and return the lines that the client still awaits."""
        self.output.error(error)
        return ()


class Search(Job):
    """The search of one ``go`` command, which ends with one ``bestmove``.

    ``asked`` is the time at which ``go`` was read (`core.monotonic_ns`).
    """

    def __init__(
        self, output: Output, player: Player, position: Position, go: Go, dialect: Uci, asked: int
    ) -> None:
        super().__init__(output)
        self._player, self._position, self._go, self._dialect = player, position, go, dialect
        self._asked = asked

    def outlasts_input(self) -> bool:
        go = self._go
        awaits_signal = go.infinite or go.ponder and self.signals.hit is None
        return go.limit.ends(self._position.side) and not awaits_signal

    def run(self) -> Sequence[str]:
        """Return the ``bestmove`` line; end the process if weights or memory are missing."""
        go, player, searcher = self._go, self._player, self._player.searcher
        settings = player.settings
        show_wdl = settings.flag("UCI_ShowWDL")

        def report(info: Info) -> None:
            self.output.write(self._dialect.info(info, show_wdl))

        if go.root_moves == ():
            # A search of other moves would be an answer that the client did not ask for.
            self.signals.begin(
                TimeManager(Limit(), self._position.side, 0.0, go.infinite, go.ponder)
            )
            self.signals.wait()
            return "info depth 0 score cp 0", self._dialect.bestmove(None, None)
        untimed = go.limit.untimed and not (go.infinite or go.ponder)
        try:
            player.prepare(wait=untimed, stopped=lambda: self.signals.stopped)
        except Exception as error:
            # A bestmove without a search would hide the fault from the client.
            self.output.fail(error)
        result = searcher.search(
            self._position,
            go.limit,
            report,
            root_moves=go.root_moves or (),
            infinite=go.infinite,
            ponder=go.ponder,
            multipv=settings.number("MultiPV"),
            overhead=settings.number("Move Overhead") / 1000,
            level=player.level,
            signals=self.signals,
            asked=self._asked,
        )
        if result.missing:
            used = searcher.threads - result.missing
            self.output.error(f"the system allows only {used} of {searcher.threads} threads")
        if result.interrupted:
            self.output.note(f"depth {(result.info.depth or 0) + 1} was cut short")
        return (self._dialect.bestmove(result.move, result.ponder),)

    def report_failure(self, error: Exception) -> Sequence[str]:
        """Report the error; return a score of 0, and the first move to search as ``bestmove``."""
        super().report_failure(error)
        is_over = self._position.outcome() is not None
        moves = () if is_over else self._go.root_moves or self._position.legal_moves()
        return "info depth 0 score cp 0", self._dialect.bestmove(moves[0] if moves else None, None)


class Perft(Job):
    """Counts the move sequences of ``depth`` plies that begin with each legal move."""

    grace_seconds = 2.0
    """A script may send ``quit`` right after ``go perft 5``, and expect the count."""

    def __init__(self, output: Output, position: Position, depth: int) -> None:
        super().__init__(output)
        self._position, self._depth = position, depth

    def run(self) -> Sequence[str]:
        """Write each move's count, and return the line with the sum."""
        if not self._depth:
            return "", "Nodes searched: 1"
        total = 0
        for move, leaves in divide(self._position, self._depth, lambda: self.signals.stopped):
            total += leaves
            self.output.write(f"{move}: {leaves}")
        if self.signals.stopped:
            self.output.note("the count was stopped, so the sum is incomplete")
        return "", f"Nodes searched: {total}"


class Bench(Job):
    """Runs the benchmark, which uses its own searcher and cannot be stopped."""

    grace_seconds = Perft.grace_seconds

    def outlasts_input(self) -> bool:
        return True

    def run(self) -> Sequence[str]:
        """Run the benchmark, and return the lines of its result."""
        from merels.engine.tools.bench import run

        return bench_lines(*run())


class Worker:
    """Runs one job at a time on its own thread, and writes the job's last lines.

    The thread starts with the first job and runs until `close`. On a busy machine, a new thread for
    each job would wait a millisecond for its first time slice, which is longer than many searches.
    """

    def __init__(self, output: Output) -> None:
        self.job: Job | None = None
        """The running job, or None; None already while the last lines of a job are written."""
        self._output = output
        self._thread: threading.Thread | None = None
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()

    def start(self, job: Job) -> None:
        """Wait for the end of the previous job, and start ``job``.

        If the system allows no thread, call `Job.report_failure`.
        """
        self.join()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="worker")
            try:
                thread.start()
            except RuntimeError as error:
                self._output.write(*job.report_failure(error))
                return
            self._thread = thread
        self.job = job
        self._idle.clear()
        self._queue.put(job)

    def end_job(self, at_once: bool = False, timeout: float | None = None) -> bool:
        """Stop the job after its `Job.grace_seconds`, or ``at_once``, and wait for its end.

        Return whether the job ended within ``timeout`` seconds of the stop.
        """
        job = self.job
        if job is not None:
            if not at_once:
                self._idle.wait(job.grace_seconds)
            job.signals.stop()
        return self.join(timeout)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the last lines are written; return whether ``timeout`` seconds sufficed."""
        return self._idle.wait(timeout)

    def close(self) -> None:
        """End the thread after its job."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                lines = job.run()
            except Exception as error:
                lines = job.report_failure(error)
            # Cleared before the last lines are written, because the client may reply at once.
            self.job = None
            self._output.write(*lines)
            self._idle.set()
