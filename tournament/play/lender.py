"""Engine caches of a process whose tasks come one by one, from a pool that merels did not make."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator

from merels.tournament.play.engine_cache import EngineCache

IDLE_SECONDS = 10.0
"""Time without a task after which the engines of a process end."""


class CacheLender:
    """Lends each task an engine cache of its own, and keeps it for the next task.

    Once no task has come for ``seconds``, all engines end.
    """

    def __init__(self, seconds: float = IDLE_SECONDS) -> None:
        self._seconds = seconds
        self._forget()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            # The engines of a forked process's parent are not its own.
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
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
            cache.measure_here()
        try:
            yield cache
        except BaseException:
            cache.close()
            raise
        with self._lock:
            self._idle.append(cache)
            self._stop_timer()
            self._timer = threading.Timer(self._seconds, self.close)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """End the engines that no task has."""
        with self._lock:
            self._stop_timer()
            idle, self._idle = self._idle, []
        for cache in idle:
            cache.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
