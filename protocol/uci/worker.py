"""The thread that long work runs on, so that the loop can keep reading."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from queue import SimpleQueue

from merels.protocol.uci.output import Output


class Job(ABC):
    """The work for one command, from its start to its last lines."""

    patience = 0.0
    """Seconds to end by itself before another command ends it."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.stopped = threading.Event()
        """Set once the job is to end as soon as possible."""

    @abstractmethod
    def run(self) -> Sequence[str]:
        """Do the work, on the worker's thread, and return its last lines."""

    def failed(self, error: Exception) -> Sequence[str]:
        """Report an error that ended the work, and return the last lines that are still owed."""
        self.output.error(error)
        return ()

    def stop(self) -> None:
        """End the job soon, also if it has not begun yet."""
        self.stopped.set()

    def ponderhit(self) -> None:
        """The move that is pondered on was played."""


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
            job.stop()
        return self.join(timeout)

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the last lines are written; whether they were within ``timeout`` seconds."""
        return self._idle.wait(timeout)

    def close(self) -> None:
        """Let the thread end after its job."""
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
