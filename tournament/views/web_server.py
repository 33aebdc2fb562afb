"""HTTP server of a tournament's page: its files, the latest games, and a stream of events."""

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
"""The page is served only to this machine."""
SHARED_FILES = ("tables.css", "replay.css", "replay.js", "game.js")
"""Files that the page shares with the report."""
MAX_QUEUED = 1 << 24
"""Bytes that may be queued for a page before its connection is closed."""
END_SECONDS = 2.0
"""Seconds in which all connections must have written the last event."""


class Reader:
    """Event queue of one open page, filled by the runner's thread, emptied by the connection's."""

    def __init__(self) -> None:
        self._queued = bytearray()
        self._changed = threading.Condition()
        self.gone = False
        self.ended = threading.Event()
        """Set when all events are written or the connection has ended."""

    def send(self, event: bytes) -> None:
        """Queue an event without waiting; beyond `MAX_QUEUED` bytes, drop all and disconnect."""
        with self._changed:
            self._queued += event
            if len(self._queued) > MAX_QUEUED:
                self.gone = True
                self._queued.clear()
            self._changed.notify()

    def close(self) -> None:
        """End the stream after the queued events."""
        with self._changed:
            self.gone = True
            self._changed.notify()

    def take(self, seconds: float) -> bytes | None:
        """Return the queued events; b"" after ``seconds`` without an event, None at the end."""
        with self._changed:
            if not self._queued and not self.gone:
                self._changed.wait(seconds)
            events, self._queued = bytes(self._queued), bytearray()
            return None if self.gone and not events else events


class PageServer(LocalServer):
    """Serves the page at ``port``; 0 chooses a free port.

    Only one thread may send events. ``replay`` returns a finished game by its number, or None; it
    is called from other threads.
    """

    def __init__(self, port: int, replay: Callable[[int], dict[str, Any] | None]) -> None:
        self.page: Page = (
            read_page("merels.tournament.views", "page")
            | read_page("merels.tournament", "report", SHARED_FILES)
            | read_page("merels.protocol.web", "page")
        )
        self.replay = replay
        self._new: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        self._readers: list[Reader] = []
        self._number = 0
        """Number of the last event, by which a page detects a missed event."""
        super().__init__(ADDRESS, port, _Handler)
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def is_watched(self) -> bool:
        """Whether any page is open."""
        return bool(self._readers) or not self._new.empty()

    def join(self, reader: Reader) -> None:
        """Register a reader, from any thread; its first event will be the whole state."""
        self._new.put(reader)

    def send(self, changes: dict[str, Any]) -> None:
        """Queue changes for all admitted readers, and drop the readers that have gone."""
        self._number += 1
        event = self._event(changes)
        for reader in self._readers:
            reader.send(event)
        self._readers = [reader for reader in self._readers if not reader.gone]

    def admit(self, state: Callable[[], dict[str, Any]]) -> None:
        """Send the whole state to the newly registered readers, and admit them."""
        if self._new.empty():
            return
        event = self._event(state())
        while not self._new.empty():
            self._readers.append(self._new.get())
            self._readers[-1].send(event)

    def finish(self, changes: dict[str, Any], state: Callable[[], dict[str, Any]]) -> None:
        """Send the last event, end all connections, and stop the server."""
        self.send(changes)
        self.admit(state)
        end = monotonic() + END_SECONDS
        for reader in self._readers:
            reader.close()
        for reader in self._readers:
            reader.ended.wait(max(0.0, end - monotonic()))
        self._readers.clear()
        self.shutdown()
        self.server_close()

    def _event(self, content: dict[str, Any]) -> bytes:
        """Return a server-sent event with the current number."""
        return f"id: {self._number}\ndata: {json.dumps(content)}\n\n".encode()


class _Handler(LocalHandler):
    """Answers with a file of the page, a finished game, or the event stream."""

    server: PageServer

    def do_GET(self) -> None:
        self.answer(self._get)

    do_HEAD = do_GET  # The answer then has no body.

    def _get(self) -> None:
        self.check_site()
        name = self.split_path()[0].removeprefix("/")
        folder, _, number = name.partition("/")
        if name == "news":
            self._stream()
        elif folder == "game":
            self._send_game(number)
        else:
            self.send_file(self.server.page, name)

    def _send_game(self, number: str) -> None:
        """Send a finished game, if it is one of the latest."""
        is_number = number.isascii() and number.isdigit() and len(number) < 12
        game = self.server.replay(int(number)) if is_number else None
        if game is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "this game is not kept; only the latest games are")
        self.send(HTTPStatus.OK, json.dumps(game).encode())

    def _stream(self) -> None:
        """Send events until the page is closed or the run is over."""
        reader = Reader()
        self.server.join(reader)
        try:
            self.send_events(reader.take)
        finally:
            reader.close()
            reader.ended.set()
