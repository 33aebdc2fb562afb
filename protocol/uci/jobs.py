"""Long-running jobs (search, perft, benchmark) and their worker thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from queue import SimpleQueue

from merels.engine.game.position import Position
from merels.engine.search.limits import Info
from merels.engine.search.signals import Signals
from merels.engine.tools.perft import divide
from merels.engine.tools.show import bench_lines
from merels.protocol.uci.go_command import Go
from merels.protocol.uci.player import Player
from merels.protocol.uci.streams import Output
from merels.protocol.uci.wording import Uci


class Job(ABC):
    """The work for one command, from its start to its last lines."""

    patience = 0.0
    """Seconds that a job may go on before the next command ends it."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.signals = Signals()
        """Signals from the client to the job."""

    @abstractmethod
    def run(self) -> Sequence[str]:
        """Do the work, on the worker's thread, and return its last lines."""

    def is_limited(self) -> bool:
        """Whether it ends without a signal, and may finish after the end of the input."""
        return False

    def failed(self, error: Exception) -> Sequence[str]:
        """Report an error that ended the work, and return the last lines that are still owed."""
        self.output.error(error)
        return ()


class Search(Job):
    """The search for one ``go``, which ends in one bestmove.

    Without the weights or the memory to search, it ends the process instead. It has its own
    position and limits, which no later command changes. Made once the job before it has ended,
    since both use the player.
    """

    def __init__(
        self, output: Output, player: Player, position: Position, go: Go, dialect: Uci, asked: int
    ) -> None:
        super().__init__(output)
        self._player, self._position, self._go, self._dialect = player, position, go, dialect
        self._asked = asked

    def is_limited(self) -> bool:
        go = self._go
        waits = go.infinite or go.ponder and self.signals.hit is None
        return go.limit.ends(self._position.side) and not waits

    def run(self) -> Sequence[str]:
        """Search, and return the bestmove. End the process if it cannot search."""
        go, player, searcher = self._go, self._player, self._player.searcher
        settings = player.settings
        show_wdl = settings.flag("UCI_ShowWDL")

        def report(info: Info) -> None:
            self.output.write(self._dialect.info(info, show_wdl))

        untimed = go.limit.untimed and not (go.infinite or go.ponder)
        try:
            player.prepare(wait=untimed, stopped=lambda: self.signals.stopped)
        except Exception as error:
            # An engine that answers without a search would look healthy.
            self.output.fail(error)
        result = searcher.search(
            self._position,
            go.limit,
            report,
            root_moves=go.root_moves,
            infinite=go.infinite,
            ponder=go.ponder,
            multipv=settings.number("MultiPV"),
            overhead=settings.number("Move Overhead") / 1000,
            level=player.level,
            signals=self.signals,
            asked=self._asked,
        )
        if result.missing:
            had = searcher.threads - result.missing
            self.output.error(
                f"the system allows only {had} of {searcher.threads} threads; using those"
            )
        if result.cut:
            self.output.note(f"depth {(result.info.depth or 0) + 1} was cut short")
        return (self._dialect.bestmove(result.move, result.ponder),)

    def failed(self, error: Exception) -> Sequence[str]:
        """Report the error, and return a score and a bestmove that need no search."""
        super().failed(error)
        over = self._position.outcome() is not None
        moves = () if over else self._go.root_moves or self._position.legal_moves()
        return "info depth 0 score cp 0", self._dialect.bestmove(moves[0] if moves else None, None)


class Count(Job):
    """Counts the leaves below each move, ``depth`` plies from a position."""

    patience = 2.0
    """A script that writes ``go perft 5`` and ``quit`` at once wants the count."""

    def __init__(self, output: Output, position: Position, depth: int) -> None:
        super().__init__(output)
        self._position, self._depth = position, depth

    def run(self) -> Sequence[str]:
        """Print each move's count, and return the sum."""
        if not self._depth:
            return "", "Nodes searched: 1"
        total = 0
        for move, leaves in divide(
            self._position, self._depth, lambda: self.signals.stopped
        ):
            total += leaves
            self.output.write(f"{move}: {leaves}")
        if self.signals.stopped:
            self.output.note("the count was stopped; its sum covers what was counted")
        return "", f"Nodes searched: {total}"


class Bench(Job):
    """Runs the benchmark, which has a searcher of its own and cannot be stopped."""

    patience = Count.patience

    def is_limited(self) -> bool:
        return True

    def run(self) -> Sequence[str]:
        """Run it, and return its result."""
        from merels.engine.tools.bench import run

        return bench_lines(*run())


class Worker:
    """Runs one job at a time on a thread of its own, and writes its last lines.

    The thread is started with the first job and kept until `close`: on a busy machine a new thread
    waits a millisecond for its first time slice, which is more than many a search takes.
    """

    def __init__(self, output: Output) -> None:
        self.job: Job | None = None
        """The job that still owes its last lines."""
        self._output = output
        self._thread: threading.Thread | None = None
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()

    def start(self, job: Job) -> None:
        """Start a job once the one before it has ended. It fails if the system has no thread."""
        self.join()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="worker")
            try:
                thread.start()
            except RuntimeError as error:
                self._output.write(*job.failed(error))
                return
            self._thread = thread
        self.job = job
        self._idle.clear()
        self._queue.put(job)

    def finish(self, at_once: bool = False, timeout: float | None = None) -> bool:
        """End the job, but not ``at_once`` if it has patience, and wait until it has ended.

        Returns whether it ended within ``timeout`` seconds.
        """
        job = self.job
        if job is not None:
            if not at_once:
                self._idle.wait(job.patience)
            job.signals.stop()
        return self.join(timeout)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the last lines are written; whether they were within ``timeout`` seconds."""
        return self._idle.wait(timeout)

    def close(self) -> None:
        """End the thread after its job."""
        self._queue.put(None)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                lines = job.run()
            except Exception as error:
                lines = job.failed(error)
            # Before the last line is written: the client may answer it at once.
            self.job = None
            self._output.write(*lines)
            self._idle.set()
