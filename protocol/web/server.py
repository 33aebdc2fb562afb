"""HTTP server for the browsers of this machine: files, JSON and server-sent events.

The files of a page are read once at the start and looked up by name in a table: no path reaches
the disk. A request from another site's page names that site in its headers, and is refused.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from socket import AF_INET6, SHUT_RDWR, socket
from socketserver import TCPServer
from threading import Lock
from time import monotonic
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from merels.engine.common.errors import shorten

MOST_CONNECTIONS = 128
MOST_STREAMS = 96
"""Connections that may be event streams; the others are left for requests."""
READ_SECONDS = 30.0
"""Seconds that a connection has for its next request, headers and body together."""
PING_SECONDS = 3.0
"""How often a quiet stream is written to: only writing shows that the browser is gone."""

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Page = dict[str, tuple[str, bytes]]
"""The type and content of a page's files by name; the index has the empty name."""
_LONGEST_ERROR = 300
_LOG = logging.getLogger(__name__)


def unexpected(error: Exception) -> str:
    """Log an error that no code expects, with its traceback; return the page's line about it."""
    _LOG.error("unexpected error", exc_info=error)
    what = shorten(f"{type(error).__name__}: {error}", _LONGEST_ERROR)
    return f"Unexpected error ({what}). The terminal of merels shows where it arose."


def read_page(package: str, folder: str, names: Iterable[str] | None = None) -> Page:
    """The files for browsers in a package's folder and below it: all, or those of some names."""
    page: Page = {}
    for name, entry in _walk(files(package).joinpath(folder)):
        kind = TYPES.get(name.rpartition(".")[2])
        if kind is not None and (names is None or name in names):
            page["" if name == "index.html" else name] = (kind, entry.read_bytes())
    return page


def _walk(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    """The files in a folder and the folders below it, each by its path from there."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{above}{entry.name}/")
        else:
            yield above + entry.name, entry


def is_own_host(header: str, host: str, port: int) -> bool:
    """Whether a Host header names the server at ``host`` and ``port`` by a number or as loopback.

    A name that a foreign name server gave to its address is refused: a page from there
    could read what is served here under that name.
    """
    try:
        parts = urlsplit(f"//{header}")
        name, wanted = parts.hostname or "", parts.port or 80
    except ValueError:
        return False
    if wanted != port or parts.username is not None:
        return False
    if name in ("localhost", host):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class LocalServer(ThreadingHTTPServer):
    """Serves until `shutdown`, each connection in a thread of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, handler: type[LocalHandler]) -> None:
        """Listen on a port, or with 0 on a free one; OSError where that fails."""
        if ":" in host:
            self.address_family = AF_INET6
        self._open: set[socket] = set()
        self._waiting: dict[socket, float] = {}
        """When each connection that owes a request began to wait, the first to wait first."""
        self._streams: dict[socket, None] = {}
        """The connections that are event streams, the oldest first."""
        self._lock = Lock()
        super().__init__((host, port), handler)
        self.host = host
        self.port = int(self.server_address[1])

    @property
    def root(self) -> str:
        """The address of everything that is served."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/"

    def server_bind(self) -> None:
        """Bind the port, without the library's look-up of the host name."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own.

        If there are too many, the one that has owed a request for longest ends; if none does, this.
        """
        with self._lock:
            if len(self._open) >= MOST_CONNECTIONS and self._waiting:
                self._end(next(iter(self._waiting)))
            room = len(self._open) < MOST_CONNECTIONS
            if room:
                self._open.add(request)
                self._waiting[request] = monotonic()
        if room:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def service_actions(self) -> None:
        """End the connections that have owed a request for too long; called again and again."""
        with self._lock:
            latest = monotonic() - READ_SECONDS
            for connection in [one for one, since in self._waiting.items() if since < latest]:
                self._end(connection)

    def _end(self, connection: socket) -> None:
        """End a connection so that a new one fits; the caller holds the lock."""
        self._forget(connection)
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)

    def _forget(self, connection: socket) -> None:
        """Stop counting a connection; the caller holds the lock."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)
        self._streams.pop(connection, None)

    def await_request(self, connection: socket) -> None:
        """Note that a connection owes a request, or has yet to read an answer."""
        with self._lock:
            if connection in self._open:
                self._waiting.setdefault(connection, monotonic())

    def take_request(self, connection: socket) -> bool:
        """Note that all of a connection's request has come; False if the connection was ended."""
        with self._lock:
            self._waiting.pop(connection, None)
            return connection in self._open

    def begin_stream(self, connection: socket) -> None:
        """Note that a connection is a stream from now on; if there are too many, end the oldest.

        Its page opens another one.
        """
        with self._lock:
            if len(self._streams) >= MOST_STREAMS:
                self._end(next(iter(self._streams)))
            if connection in self._open:
                self._streams[connection] = None

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._forget(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error outside any request, unless a browser has vanished."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, GONE):
            unexpected(error)


GONE = (ConnectionError, TimeoutError)
"""Errors of a connection whose browser has vanished, or reads nothing."""


class Refusal(Exception):
    """A request is refused: with which HTTP status, and why."""


class LocalHandler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: LocalServer
    protocol_version = "HTTP/1.1"
    timeout = READ_SECONDS
    connection: socket

    def version_string(self) -> str:
        """The server's name, without a version."""
        return "merels"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: an address may contain a code that lets a browser in."""

    def handle_one_request(self) -> None:
        """Wait for a request and answer it."""
        self.server.await_request(self.connection)
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read a request's headers; whether it is to be answered.

        A POST still owes its body, which `read_body` reads.
        """
        if not super().parse_request():
            return False
        return self.command == "POST" or self.server.take_request(self.connection)

    def read_body(self, most: int) -> bytes:
        """Read a request's body of at most ``most`` bytes, or raise a `Refusal`."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 9 or int(length) > most:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {most} bytes")
        data = self.rfile.read(int(length))
        if not self.server.take_request(self.connection) or len(data) < int(length):
            raise ConnectionAbortedError("the connection ended within a request")
        return data

    def end_headers(self) -> None:
        """Add the headers that keep other sites out."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def answer(self, work: Callable[[], None]) -> None:
        """Do the work of a request; any error in it becomes the answer."""
        try:
            work()
        except Refusal as refusal:
            self.refuse(*refusal.args)
        except GONE:
            raise
        except Exception as error:
            self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR, unexpected(error))

    def check_host(self) -> None:
        """Raise a `Refusal` of a request for another server."""
        if not is_own_host(self.headers.get("Host", ""), self.server.host, self.server.port):
            raise Refusal(HTTPStatus.FORBIDDEN, "this is not the server's name")

    def check_site(self) -> None:
        """Raise a `Refusal` of a request from another site, or for another server."""
        self.check_host()
        own = f"http://{self.headers['Host']}"
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.headers.get("Origin", own) != own or site not in ("none", "same-origin"):
            raise Refusal(HTTPStatus.FORBIDDEN, "requests from other sites are refused")

    def split_path(self) -> tuple[str, str]:
        """The path of the address and its query, or a `Refusal`."""
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise Refusal(HTTPStatus.BAD_REQUEST, "malformed address") from None
        return parts.path, parts.query

    def send_file(self, page: Page, name: str) -> None:
        """Send a file of a page, or raise a `Refusal`."""
        if name not in page:
            raise Refusal(HTTPStatus.NOT_FOUND, "no such page")
        kind, data = page[name]
        self.send(HTTPStatus.OK, data, kind)

    def send(
        self, status: HTTPStatus, data: bytes, kind: str = "application/json",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Send a whole answer. The connection owes its next request from here on."""
        self.server.await_request(self.connection)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, take: Callable[[float], bytes | None]) -> None:
        """Make the connection an event stream until ``take`` returns None or the browser is gone.

        ``take`` waits for some seconds, and returns events as the stream has them, or b"" for none.
        """
        self.close_connection = True
        self.server.begin_stream(self.connection)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        while (events := take(PING_SECONDS)) is not None:
            self.wfile.write(events or b": still here\n\n")

    def refuse(self, status: HTTPStatus, why: str) -> None:
        """Refuse the request and end the connection, without reading the rest of the request."""
        self.close_connection = True
        self.send(status, json.dumps({"error": why}).encode())
        if self.command == "POST":
            self._drain()

    def _drain(self) -> None:
        """Read on for a moment, so that the browser gets the answer before a closed connection."""
        try:
            self.wfile.flush()
            self.connection.settimeout(0.5)
            for _ in range(64):
                if not self.connection.recv(1 << 16):
                    break
            self.connection.shutdown(SHUT_RDWR)
        except OSError:
            pass
