"""Signals from other threads to a running search: stop and ponderhit."""

from __future__ import annotations

import threading

from merels.engine.core import core
from merels.engine.search.time_management import TimeManager


class Signals:
    """The signals of one search, sent from any thread, also before the search begins."""

    def __init__(self) -> None:
        self.stopped = False
        """Whether `stop` was called."""
        self.hit: int | None = None
        """Time of the ponderhit, in nanoseconds of `core.monotonic_ns`, or None."""
        self.deadline = core.Deadline()
        """Time at which all workers stop; 0 stops them at once."""
        self._changed = threading.Condition()
        self._clock: TimeManager | None = None
        self._ended = False

    def stop(self) -> None:
        """End the search as soon as possible."""
        with self._changed:
            self.stopped = True
            self._apply()

    def ponderhit(self, at: int | None = None) -> None:
        """Start the time limits of a pondering search: the opponent has played the expected move.

        Time counts from ``at``, in nanoseconds of `core.monotonic_ns`, or from now.
        """
        with self._changed:
            self.hit = core.monotonic_ns() if at is None else at
            self._apply()

    def begin(self, clock: TimeManager) -> None:
        """Attach a search's clock; signals that were sent earlier apply now."""
        with self._changed:
            self._clock = clock
            self._apply()

    def due(self) -> bool:
        """Return whether the search must end now."""
        end = self._clock.deadline() if self._clock is not None else None
        return self.stopped or end is not None and core.monotonic_ns() >= end

    def end(self) -> None:
        """Stop all workers, as the search has its result."""
        with self._changed:
            self._ended = True
            self._apply()

    def wait(self) -> None:
        """Wait for `stop` if the search is infinite, or for `stop` or `ponderhit` if it ponders."""
        with self._changed:
            while self._clock is not None and self._clock.waits and not self.stopped:
                self._changed.wait()

    def _apply(self) -> None:
        clock = self._clock
        if clock is not None:
            if self.hit is not None:
                clock.ponderhit(self.hit)
            if self.stopped or self._ended:
                self.deadline.set(0)
            else:
                self.deadline.set(clock.deadline(), clock.proof_deadline())
        self._changed.notify_all()
