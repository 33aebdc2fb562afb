"""Pending events of the browsers.

A slow browser or an engine that floods its output must not fill the memory. So a `Feed` stores only
the kinds of pending events, and the server sends the latest data of each kind.
"""

from __future__ import annotations

from threading import Condition
from time import monotonic, sleep

EVENTS_PER_SECOND = 30.0
"""Events of one kind that are sent to a browser in a second, at most."""


class Feed:
    """The pending events of one stream to a browser. Thread-safe."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._changed = Condition()
        self._closed = False
        self._next_take = 0.0

    def announce(self, *kinds: str) -> None:
        """Mark kinds as pending; one `take` returns them together."""
        with self._changed:
            self._kinds.update(kinds)
            self._changed.notify()

    def close(self) -> None:
        """End the stream."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take(self, seconds: float) -> set[str] | None:
        """Return the kinds announced since the last call, or None if the stream is closed.

        Wait at most ``seconds`` for an announcement, then as long as `EVENTS_PER_SECOND` requires.
        """
        with self._changed:
            if not self._kinds and not self._closed:
                self._changed.wait(seconds)
        # Kinds announced during the pause are included.
        sleep(max(0.0, self._next_take - monotonic()))
        self._next_take = monotonic() + 1 / EVENTS_PER_SECOND
        with self._changed:
            kinds, self._kinds = self._kinds, set()
            return None if self._closed else kinds
