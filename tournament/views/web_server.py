"""The server of a tournament's page: a few files, finished games, and a stream of news.

The news goes through a WebSocket: browsers open no more than six connections of any other kind to
one server, which as many tabs would use up. What a page says there is not read: it only listens.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import queue
import threading
from collections.abc import Callable
from http import HTTPStatus
from socket import SHUT_RDWR, socket
from time import monotonic
from typing import Any

from merels.protocol.board.local_server import (
    POLICY,
    LocalHandler,
    LocalServer,
    Page,
    Refusal,
    read_page,
)

ADDRESS = "127.0.0.1"
"""The page is for this machine alone, and read-only."""
SHARED = ("dom.js", "drawing.js", "theme.css", "icon.svg")
"""The files that the page has in common with the board's."""
MOST_WAITING = 1 << 24
"""Bytes that may wait for a reader before it is given up."""
LAST_SECONDS = 2.0
"""How long all readers together get to take the last news."""
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE = 0x81, 0x88


class Reader:
    """A page that listens. `send` never waits: what it cannot send now goes out with the next.

    The runner's thread sends, and the connection's closes: a lock keeps them apart.
    """

    def __init__(self, connection: socket) -> None:
        self._socket = connection.dup()
        self._socket.setblocking(False)
        self._waiting = bytearray()
        self._lock = threading.Lock()
        self.gone = False

    def send(self, data: bytes) -> None:
        """Send data, as far as it is taken; a reader that falls far behind is given up."""
        with self._lock:
            if self.gone:
                return
            self._waiting += data
            try:
                del self._waiting[: self._socket.send(self._waiting)]
            except BlockingIOError:
                pass
            except OSError:
                self.gone = True
            if len(self._waiting) > MOST_WAITING:
                self.gone = True

    def finish(self, data: bytes, seconds: float) -> None:
        """Send the last data, waiting at most so long."""
        with self._lock, contextlib.suppress(OSError):
            self._waiting += data
            self._socket.settimeout(max(0.001, seconds))
            self._socket.sendall(self._waiting)

    def close(self) -> None:
        """End the connection; any thread may, and more than once."""
        with self._lock:
            self.gone = True
            with contextlib.suppress(OSError):
                self._socket.shutdown(SHUT_RDWR)
            self._socket.close()


class PageServer(LocalServer):
    """Serves the page at a port, or with 0 at a free one.

    One thread sends all news; ``replay`` is called by others and finds a finished game.
    """

    def __init__(self, port: int, replay: Callable[[int], dict[str, Any] | None]) -> None:
        self.page: Page = (
            read_page("merels.tournament.views", "page")
            | read_page("merels.tournament", "report", ("tables.css",))
            | read_page("merels.protocol.board", "page", SHARED)
        )
        self.replay = replay
        self._new: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        self._readers: list[Reader] = []
        super().__init__(ADDRESS, port, _Handler)
        # Not every browser takes a WebSocket of the page's own server for the page's own.
        sockets = f"'self' ws://{ADDRESS}:{self.port} ws://localhost:{self.port}"
        self.policy = POLICY.replace("connect-src 'self'", f"connect-src {sockets}")
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def is_watched(self) -> bool:
        """Whether anybody listens."""
        return bool(self._readers) or not self._new.empty()

    def join(self, reader: Reader) -> None:
        """Take a reader in, from any thread; it is told everything at first."""
        self._new.put(reader)

    def send(self, news: dict[str, Any]) -> None:
        """Send what is new to all readers that were admitted."""
        data = frame(_TEXT, json.dumps(news).encode())
        for reader in self._readers:
            reader.send(data)
        for reader in [reader for reader in self._readers if reader.gone]:
            self._readers.remove(reader)
            reader.close()

    def admit(self, everything: Callable[[], dict[str, Any]]) -> None:
        """Send everything to the readers that have come, and admit them."""
        if self._new.empty():
            return
        data = frame(_TEXT, json.dumps(everything()).encode())
        while not self._new.empty():
            self._readers.append(self._new.get())
            self._readers[-1].send(data)

    def finish(self, news: dict[str, Any], everything: Callable[[], dict[str, Any]]) -> None:
        """Send the last news, and end all connections."""
        self.send(news)
        self.admit(everything)
        end = monotonic() + LAST_SECONDS
        for reader in self._readers:
            reader.finish(frame(_CLOSE, b""), end - monotonic())
            reader.close()
        self._readers.clear()
        self.shutdown()
        self.server_close()


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
        """Make the connection a WebSocket, and wait until the page leaves."""
        key = self.headers.get("Sec-WebSocket-Key", "")
        if self.headers.get("Upgrade", "").lower() != "websocket" or not key:
            raise Refusal(HTTPStatus.UPGRADE_REQUIRED, "expected a WebSocket")
        accept = base64.b64encode(hashlib.sha1(key.encode() + _MAGIC).digest()).decode()
        self.close_connection = True
        self.server.begin_stream(self.connection)
        self.send_response(HTTPStatus.SWITCHING_PROTOCOLS)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        reader = Reader(self.connection)
        self.server.join(reader)
        try:
            # A page says nothing but that it leaves.
            while not self._has_said_something():
                pass
        except OSError:
            pass
        finally:
            reader.close()

    def _has_said_something(self) -> bool:
        """Wait for a word of the page, or its end."""
        try:
            self.connection.recv(1024)
        except TimeoutError:
            return False
        return True


def frame(kind: int, data: bytes) -> bytes:
    """A whole WebSocket message, as a server sends it."""
    length = len(data)
    if length < 126:
        return bytes([kind, length]) + data
    if length < 1 << 16:
        return bytes([kind, 126]) + length.to_bytes(2, "big") + data
    return bytes([kind, 127]) + length.to_bytes(8, "big") + data
