"""Engine caches in the processes of a user's executor."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator

from merels.tournament.play.engine_cache import EngineCache

KEEP_SECONDS = 10.0
"""Time for which a process keeps its engines after its last task, in seconds."""


class CacheLender:
    """Lends an engine cache to each task and keeps it for later tasks.

    The engines of caches that are not lent end if no task begins or ends for ``seconds``.
    """

    def __init__(self, seconds: float = KEEP_SECONDS) -> None:
        self._seconds = seconds
        self._reset()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            # A forked process must not use its parent's engines.
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[EngineCache] = []
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def lend(self) -> Iterator[EngineCache]:
        """Lend a cache to the task of this thread; an exception ends its engines."""
        with self._lock:
            self._stop_timer()
            cache = self._idle.pop() if self._idle else None
        if cache is None:
            cache = EngineCache()
        else:
            cache.measure_this_thread()  # Its meter measured the thread of the last task.
        try:
            yield cache
        except BaseException:
            cache.close()
            raise
        with self._lock:
            self._idle.append(cache)
            self._stop_timer()
            timer = threading.Timer(self._seconds, self.close)
            timer.daemon = True
            # If the system allows no thread, the task's games must not be lost.
            with contextlib.suppress(RuntimeError):
                timer.start()
                self._timer = timer

    def close(self) -> None:
        """End the engines that are not lent."""
        with self._lock:
            self._stop_timer()
            idle, self._idle = self._idle, []
        for cache in idle:
            cache.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
