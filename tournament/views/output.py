"""Shared by the views: text on standard output and standard error, the pace of a run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from time import monotonic, thread_time
from typing import Generic, TextIO, TypeVar

from merels.engine.common.errors import Failure, printable
from merels.tournament.run.plan import Progress

T = TypeVar("T")
SHARE = 0.02
"""The most of the runner's time that a view may take."""
SHARE_BESIDE = 0.1
"""The most of the time that a thread beside the runner's may take for a view: both share the GIL.
"""

PATIENCE = 0.02
"""Seconds that the runner's thread waits for such a thread, which is usually done by then."""


class OutputError(Failure):
    """Standard output cannot be written: its reader has gone, or the disk is full."""


def put(out: TextIO, text: str) -> None:
    """Write a text at once; `OutputError` where that fails."""
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None


_speaker = "merels tournament"


def speak_as(command: str) -> None:
    """Have `notify` name this command."""
    global _speaker
    _speaker = command


def notify(text: str) -> None:
    """Tell a person something on standard error."""
    print(f"{_speaker}: {printable(text)}", file=sys.stderr, flush=True)


def versus(white: str, black: str) -> str:
    """The names of two engines that play each other, safe to print."""
    return f"{printable(white)} vs {printable(black)}"


class Throttle:
    """Draws something costly at most every ``seconds``, and in at most a share of the time.

    ``cost`` is the clock that measures the drawing.
    """

    def __init__(
        self, seconds: float, share: float = SHARE, cost: Callable[[], float] = monotonic
    ) -> None:
        self._seconds = seconds
        self._share = share
        self._cost = cost
        self._next = 0.0

    def run(self, draw: Callable[[], None]) -> None:
        """Draw, if that is due."""
        if monotonic() >= self._next:
            began = self._cost()
            draw()
            self._next = monotonic() + max(self._seconds, (self._cost() - began) / self._share)


class Background(Generic[T]):
    """The latest value of a task that is repeated in a thread of its own.

    A task begins at most every ``seconds``, and takes at most a share of the time.
    """

    def __init__(self, seconds: float, share: float) -> None:
        self.value: T | None = None
        """None before the first task has ended."""
        self._seconds = seconds
        self._share = share
        self._next = 0.0
        self._running: Future[T] | None = None

    def update(self, make: Callable[[], Callable[[], T] | None]) -> bool:
        """Take the value of a task that has ended, and begin another if that is due.

        ``make`` is called here, and returns what the other thread calls, or None if nothing is new.
        Returns whether there is a new value.
        """
        is_new = False
        if self._running is not None and self._running.done():
            self.finish()
            is_new = True
        if self._running is None and monotonic() >= self._next and (task := make()) is not None:
            self._running = Future()
            words = task, self._running
            threading.Thread(target=self._run, args=words, daemon=True).start()
            if self._running in wait([self._running], PATIENCE).done:
                self.finish()
                is_new = True
        return is_new

    def finish(self) -> None:
        """Wait for the task that runs, if one does, and take its value."""
        if self._running is not None:
            running, self._running = self._running, None
            self.value = running.result()

    def _run(self, task: Callable[[], T], running: Future[T]) -> None:
        began = thread_time()
        try:
            value = task()
        except BaseException as error:
            running.set_exception(error)
        else:
            cost = thread_time() - began
            self._next = monotonic() + max(self._seconds, cost / self._share)
            running.set_result(value)


class Pace:
    """How fast games are finished."""

    def __init__(self) -> None:
        self._began = monotonic()
        self._games = 0

    def add(self) -> None:
        """Count a game."""
        self._games += 1

    def rate(self) -> float:
        """Games a second."""
        return self._games / max(monotonic() - self._began, 1e-9)

    def left(self, games: int) -> str:
        """The time until that many more games are finished, as h:mm:ss; ``?`` before the first."""
        return time_text(max(0, games) / self.rate()) if self._games else "?"


def time_left(pace: Pace, progress: Progress) -> str:
    """``, 0:01:00 left`` where the number of games is known; ``at most`` where they may be less."""
    if progress.left is None:
        return ""
    return f", {'at most ' if progress.is_bound else ''}{pace.left(progress.left)} left"


def time_text(seconds: float) -> str:
    """A time as hours, minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
