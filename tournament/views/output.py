"""Parts shared by the views: printing, throttling, background tasks, pace of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from time import monotonic, thread_time
from typing import Generic, TextIO, TypeVar

from merels.engine.common.errors import Failure, printable
from merels.tournament.run.plan import Progress

T = TypeVar("T")
VIEW_SHARE = 0.02
"""Largest share of the time that drawing a view may take."""
BACKGROUND_SHARE = 0.1
"""Largest share of the time that a background thread may use, because it holds the GIL."""
CLEAR_BELOW = "\x1b[J"
"""Escape sequence that clears a terminal from the cursor to its end."""
WAIT_SECONDS = 0.02
"""Seconds that the runner's thread waits for a background task that it has just started."""


class OutputError(Failure):
    """Standard output cannot be written, because its reader has exited or the disk is full."""


def put(out: TextIO, text: str) -> None:
    """Write and flush a text; raise `OutputError` if that fails."""
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror or error}") from None


def versus(white: str, black: str) -> str:
    """Return ``A vs B`` for two engines, with ``?`` for unprintable characters."""
    return f"{printable(white)} vs {printable(black)}"


class Throttle:
    """Limits how often a view is drawn.

    A drawing begins at most every ``seconds``, and drawings use at most ``share`` of the time, as
    measured by ``clock`` in seconds.
    """

    def __init__(
        self, seconds: float, share: float = VIEW_SHARE, clock: Callable[[], float] = monotonic
    ) -> None:
        self._seconds = seconds
        self._share = share
        self._clock = clock
        self._next = 0.0

    def run(self, draw: Callable[[], None]) -> None:
        """Call ``draw`` if the pause after the last drawing has passed."""
        if monotonic() >= self._next:
            began = self._clock()
            draw()
            self._next = monotonic() + max(self._seconds, (self._clock() - began) / self._share)


class Background(Generic[T]):
    """The latest value of a task that is repeated in a background thread.

    A task begins at most every ``seconds``, and tasks use at most ``share`` of the time.
    """

    def __init__(self, seconds: float, share: float) -> None:
        self.value: T | None = None
        """Value of the last finished task; None before the first."""
        self._seconds = seconds
        self._share = share
        self._next = 0.0
        self._running: Future[T] | None = None

    def update(self, make: Callable[[], Callable[[], T] | None]) -> bool:
        """Take the value of a finished task, and start another task if the pause is over.

        ``make`` is called in the caller's thread. It returns the task for the background thread, or
        None if the value is up to date. Return whether there is a new value.
        """
        is_new = False
        if self._running is not None and self._running.done():
            self.finish()
            is_new = True
        if self._running is None and monotonic() >= self._next and (task := make()) is not None:
            self._running = Future()
            arguments = task, self._running
            threading.Thread(target=self._run, args=arguments, daemon=True).start()
            if self._running in wait([self._running], WAIT_SECONDS).done:
                self.finish()
                is_new = True
        return is_new

    def finish(self) -> None:
        """Wait for the running task, if there is one, and take its value."""
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
    """Rate of finished games."""

    def __init__(self) -> None:
        self._began = monotonic()
        self._games = 0

    def add(self) -> None:
        """Count a game."""
        self._games += 1

    def rate(self) -> float:
        """Return the number of games per second since this object was made."""
        return self._games / max(monotonic() - self._began, 1e-9)

    def text(self, progress: Progress) -> str:
        """Return a text such as ``1.5 games/s, at most 0:01:00 left``."""
        return f"{self.rate():.1f} games/s{self.left(progress)}" if self._games else "no result yet"

    def left(self, progress: Progress) -> str:
        """Return a text such as ``, at most 0:01:00 left`` after at least one game.

        The text is '' if the number of games left is unknown.
        """
        if progress.left is None:
            return ""
        time = time_text(max(0, progress.left) / self.rate())
        return f", {'at most ' if progress.is_bound else ''}{time} left"


def time_text(seconds: float) -> str:
    """Return a time as h:mm:ss."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
