"""Server of a tournament's page: its files, the latest games, and a stream of news."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from http import HTTPStatus
from time import monotonic
from typing import Any

from merels.protocol.web.server import LocalHandler, LocalServer, Page, Refusal, read_page

ADDRESS = "127.0.0.1"
"""The page is read-only, and for this machine only."""
SHARED = ("tables.css", "replay.css", "replay.js", "game.js")
"""Files that the page shares with the report."""
MOST_WAITING = 1 << 24
"""Bytes that may wait for a reader before it is given up."""
LAST_SECONDS = 2.0
"""Time that all readers together have to take the last news."""


class Reader:
    """A page that listens: the runner's thread sends, the connection's thread takes."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._changed = threading.Condition()
        self.gone = False
        self.ended = threading.Event()
        """Set once all that was sent is written, or the connection has ended."""

    def send(self, event: bytes) -> None:
        """Queue an event without waiting; give up a reader that is far behind."""
        with self._changed:
            self._waiting += event
            if len(self._waiting) > MOST_WAITING:
                self.gone = True
                self._waiting.clear()
            self._changed.notify()

    def close(self) -> None:
        """End the stream after what was sent."""
        with self._changed:
            self.gone = True
            self._changed.notify()

    def take(self, seconds: float) -> bytes | None:
        """Return the waiting events, b"" if none comes in time, None at the end of the stream."""
        with self._changed:
            if not self._waiting and not self.gone:
                self._changed.wait(seconds)
            events, self._waiting = bytes(self._waiting), bytearray()
            return None if self.gone and not events else events


class PageServer(LocalServer):
    """Serves the page at a port, or with 0 at a free one.

    One thread sends all news; ``replay`` is called by others and finds a finished game.
    """

    def __init__(self, port: int, replay: Callable[[int], dict[str, Any] | None]) -> None:
        self.page: Page = (
            read_page("merels.tournament.views", "page")
            | read_page("merels.tournament", "report", SHARED)
            | read_page("merels.protocol.web", "page")
        )
        self.replay = replay
        self._new: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        self._readers: list[Reader] = []
        self._number = 0
        """The number of the last news; a page finds by it whether it has missed any."""
        super().__init__(ADDRESS, port, _Handler)
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def is_watched(self) -> bool:
        """Whether any page listens."""
        return bool(self._readers) or not self._new.empty()

    def join(self, reader: Reader) -> None:
        """Take a reader in, from any thread; its first news is everything so far."""
        self._new.put(reader)

    def send(self, news: dict[str, Any]) -> None:
        """Send what is new to all readers that were admitted."""
        self._number += 1
        event = self._event(news)
        for reader in self._readers:
            reader.send(event)
        self._readers = [reader for reader in self._readers if not reader.gone]

    def admit(self, everything: Callable[[], dict[str, Any]]) -> None:
        """Send everything to the readers that have come, and admit them."""
        if self._new.empty():
            return
        event = self._event(everything())
        while not self._new.empty():
            self._readers.append(self._new.get())
            self._readers[-1].send(event)

    def finish(self, news: dict[str, Any], everything: Callable[[], dict[str, Any]]) -> None:
        """Send the last news, and end all connections."""
        self.send(news)
        self.admit(everything)
        end = monotonic() + LAST_SECONDS
        for reader in self._readers:
            reader.close()
        for reader in self._readers:
            reader.ended.wait(max(0.0, end - monotonic()))
        self._readers.clear()
        self.shutdown()
        self.server_close()

    def _event(self, news: dict[str, Any]) -> bytes:
        """A piece of news as a server-sent event."""
        return f"id: {self._number}\ndata: {json.dumps(news)}\n\n".encode()


class _Handler(LocalHandler):
    """Answers with a file of the page, a finished game, or the stream of news."""

    server: PageServer

    def do_GET(self) -> None:
        self.answer(self._get)

    def _get(self) -> None:
        self.check_site()
        name = self.split_path()[0].removeprefix("/")
        folder, _, number = name.partition("/")
        if name == "news":
            self._listen()
        elif folder == "game":
            self._send_game(number)
        else:
            self.send_file(self.server.page, name)

    def _send_game(self, number: str) -> None:
        """Send a finished game, if it is one of the latest."""
        known = number.isascii() and number.isdigit() and len(number) < 12
        game = self.server.replay(int(number)) if known else None
        if game is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "only the latest games are kept for the page")
        self.send(HTTPStatus.OK, json.dumps(game).encode())

    def _listen(self) -> None:
        """Send the news until the page leaves or the run is over."""
        reader = Reader()
        self.server.join(reader)
        try:
            self.send_events(reader.take)
        finally:
            reader.close()
            reader.ended.set()
