"""The thread that long work runs on, so that the loop goes on reading."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Worker:
    """Runs one job at a time on a thread of its own.

    The thread is started with the first job and kept until `close`: on a busy machine a new thread
    waits a millisecond for its first move, which is more than many a search takes.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._busy = False
        self._ended = threading.Event()
        self._ended.set()

    @property
    def busy(self) -> bool:
        """Whether a job runs that has not said that it is done."""
        return self._busy

    def start(self, job: Callable[[], None]) -> None:
        """Starts a job, after the one before has ended."""
        self.join()
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="worker")
            thread.start()
            self._thread = thread
        self._busy = True
        self._ended.clear()
        self._jobs.put(job)

    def done(self) -> None:
        """Called by a job before its last line: its reader may answer that line at once."""
        self._busy = False

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the job, at most ``timeout`` seconds; says whether it has ended."""
        return self._ended.wait(timeout)

    def close(self) -> None:
        """Lets the thread end after its job."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            finally:
                self._busy = False
                self._ended.set()
