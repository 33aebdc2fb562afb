"""Signals from other threads to one search: stop and ponderhit."""

from __future__ import annotations

import threading

from merels.engine.core import core
from merels.engine.search.time_management import TimeManager


class Signals:
    """`stop` and `ponderhit` for one search, from any thread, also before the search begins."""

    def __init__(self) -> None:
        self.stopped = False
        """Whether `stop` was called."""
        self.hit: int | None = None
        """When `ponderhit` was called for (`core.monotonic_ns`), or None."""
        self.deadline = core.Deadline()
        """When the search's workers end; in the past once they are to end now."""
        self._changed = threading.Condition()
        self._clock: TimeManager | None = None
        self._ended = False

    def stop(self) -> None:
        """End the search as soon as possible."""
        with self._changed:
            self.stopped = True
            self._apply()

    def ponderhit(self, at: int | None = None) -> None:
        """Start the limits of a search that ponders: the opponent played the expected move.

        Time counts from ``at`` (`core.monotonic_ns`), or from now.
        """
        with self._changed:
            self.hit = core.monotonic_ns() if at is None else at
            self._apply()

    def begin(self, clock: TimeManager) -> None:
        """Apply earlier and later signals to a search with this clock."""
        with self._changed:
            self._clock = clock
            self._apply()

    def due(self) -> bool:
        """Return whether the search has to end now."""
        end = self._clock.deadline() if self._clock is not None else None
        return self.stopped or end is not None and core.monotonic_ns() >= end

    def end(self) -> None:
        """End all workers: the search has its result."""
        with self._changed:
            self._ended = True
            self._apply()

    def wait(self) -> None:
        """Wait while the search must not answer: until `stop`, or `ponderhit` if it ponders."""
        with self._changed:
            while self._clock is not None and self._clock.waits and not self.stopped:
                self._changed.wait()

    def _apply(self) -> None:
        clock = self._clock
        if clock is not None:
            if clock.pondering and self.hit is not None:
                clock.pondering, clock.started = False, self.hit
            self.deadline.set(0 if self.stopped or self._ended else clock.deadline())
        self._changed.notify_all()
