"""Events that browsers have not received yet, and the raw log.

A slow browser, or an engine that writes a thousand lines a second, costs no memory: an event is
stored as its kind, and a stream sends the latest of each kind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count, islice
from threading import Condition, Lock
from time import monotonic, sleep

EVENTS_PER_SECOND = 30.0
"""The most events of one kind that a browser is sent in a second."""
LOG_LINES = 2000
"""Lines of the raw log that are kept for each board."""
LONGEST_LOG_LINE = 500
"""Characters of a line that are kept."""


class Feed:
    """One open stream to a browser."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._changed = Condition()
        self._closed = False
        self._next = 0.0
        self.log_number = 0
        """The number of the last log line that was sent."""
        self.moves: tuple[object, int, int] = (None, 0, 0)
        """The tree of moves that was sent, its edits and its next number then."""
        self.judged: tuple[object, int] = (None, 0)
        """The review that was sent, and how many judgements of it."""

    def announce(self, kind: str) -> None:
        """Note an event of a kind; free for any thread."""
        with self._changed:
            self._kinds.add(kind)
            self._changed.notify()

    def close(self) -> None:
        """End the stream."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take(self, seconds: float) -> set[str] | None:
        """The kinds of events since the last call, waiting at most that many seconds for any.

        None once the stream is closed.
        """
        with self._changed:
            if not self._kinds and not self._closed:
                self._changed.wait(seconds)
        # More events may come during the pause.
        sleep(max(0.0, self._next - monotonic()))
        self._next = monotonic() + 1 / EVENTS_PER_SECOND
        with self._changed:
            kinds, self._kinds = self._kinds, set()
            return None if self._closed else kinds


class Log:
    """The last lines sent to and received from the engines, numbered from 1.

    ``on_line`` is called after each.
    """

    def __init__(self, on_line: Callable[[], None]) -> None:
        self._on_line = on_line
        self._lines: deque[tuple[int, str, str, str]] = deque(maxlen=LOG_LINES)
        self._numbers = count(1)
        self._lock = Lock()

    def add(self, who: str, direction: str, text: str) -> None:
        """Add a line: ``>`` is sent, ``<`` received, ``!`` the board's own."""
        clean = "".join(c if c.isprintable() else "\ufffd" for c in text[:LONGEST_LOG_LINE])
        with self._lock:
            self._lines.append((next(self._numbers), who, direction, clean))
        self._on_line()

    def since(self, number: int) -> list[tuple[int, str, str, str]]:
        """The number, engine, direction and text of the lines after a number."""
        with self._lock:
            if not self._lines:
                return []
            skipped = max(0, number + 1 - self._lines[0][0])
            return list(islice(self._lines, skipped, None))
