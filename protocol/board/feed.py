"""What a browser is still to be told: kinds of news, each sent in its latest form alone.

A slow browser, or an engine that writes a thousand lines a second, costs no memory: news of one
kind that was not fetched yet is the same as newer news of that kind.
"""

from __future__ import annotations

from threading import Condition
from time import monotonic, sleep

NEWS_PER_SECOND = 30.0
"""The most messages of one kind that a browser is sent in a second."""


class Feed:
    """One open stream to a browser."""

    def __init__(self) -> None:
        self._news: set[str] = set()
        self._changed = Condition()
        self._closed = False
        self._next = 0.0
        self.log_number = 0

    def tell(self, kind: str) -> None:
        """Note that there is news of a kind; free for any thread."""
        with self._changed:
            self._news.add(kind)
            self._changed.notify()

    def close(self) -> None:
        """End the stream."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def take(self, seconds: float) -> set[str] | None:
        """The kinds of news since the last call, after so many seconds maybe none.

        None once the stream is closed.
        """
        with self._changed:
            if not self._news and not self._closed:
                self._changed.wait(seconds)
        # News that comes thick and fast is gathered meanwhile.
        sleep(max(0.0, self._next - monotonic()))
        self._next = monotonic() + 1 / NEWS_PER_SECOND
        with self._changed:
            news, self._news = self._news, set()
            return None if self._closed else news
