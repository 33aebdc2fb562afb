"""The threads that help a search; they live as long as their searcher."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue


class _Task:
    """A call for one thread, which may be taken back until a thread starts it."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run
        self._claimed, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()

    def run(self) -> None:
        """Call the function, unless the task was taken back."""
        if self._claimed.acquire(blocking=False):
            try:
                self._run()
            finally:
                self._done.release()

    def end(self) -> None:
        """Take the task back, or wait for its end."""
        if not self._claimed.acquire(blocking=False):
            self._done.acquire()


class Helpers:
    """Threads that wait for tasks: starting a thread takes longer than many searches."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads = 0
        self._tasks: list[_Task] = []
        weakref.finalize(self, self._end_threads, self._queue)

    def start(self, calls: Sequence[Callable[[], object]]) -> int:
        """Run calls on a thread each; return how many calls have a thread.

        The system may refuse threads. Every start needs a `join`.
        """
        while self._threads < len(calls):
            thread = threading.Thread(
                target=_work, args=(self._queue,), name="search helper", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:
                break
            self._threads += 1
        self._tasks = [_Task(call) for call in calls[: self._threads]]
        for task in self._tasks:
            self._queue.put(task)
        return len(self._tasks)

    def join(self) -> None:
        """Take back the calls that have not started, and wait for the others."""
        for task in self._tasks:
            task.end()
        self._tasks = []

    @staticmethod
    def _end_threads(queue: SimpleQueue[_Task | None]) -> None:
        queue.put(None)


def _work(queue: SimpleQueue[_Task | None]) -> None:
    """Run tasks until None, which is passed on to the next thread."""
    while (task := queue.get()) is not None:
        task.run()
        del task  # It would keep the search's objects alive until the next task.
    queue.put(None)
