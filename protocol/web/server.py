"""HTTP server of the pages for browsers: files, JSON and server-sent events.

The files of a page are read once at the start, so no path of a request reaches the disk. Requests
from pages of other sites are refused by their headers.
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
from socket import AF_INET, AF_INET6, SHUT_RDWR, SOCK_DGRAM, socket
from socketserver import TCPServer
from threading import Lock
from time import monotonic
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from merels.engine.common.errors import shorten
from merels.engine.common.messages import with_templates

MAX_CONNECTIONS = 128
"""Maximum number of open connections, event streams included."""
MAX_STREAMS = 96
"""Maximum number of event streams."""
READ_SECONDS = 30.0
"""Timeout of a request, headers and body together, or of a read or write, in seconds."""
PING_SECONDS = 3.0
"""Interval of comments on an idle stream, in seconds; a failed write shows a closed browser."""

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Page = dict[str, tuple[str, bytes]]
"""MIME type and content of a page's files by name; index.html has the empty name."""
_LONGEST_ERROR = 300
"""Maximum length of an error's text on the page, in characters."""
_LOG = logging.getLogger(__name__)


def unexpected(error: Exception) -> str:
    """Log an unexpected error with its traceback; return a message for the page."""
    _LOG.error("unexpected error", exc_info=error)
    text = shorten(f"{type(error).__name__}: {error}", _LONGEST_ERROR)
    return f"Unexpected error ({text}). The traceback is in the terminal of merels."


def read_page(package: str, folder: str, names: Iterable[str] | None = None) -> Page:
    """Read the files in a package's folder and its subfolders; skip types that `TYPES` lacks.

    ``names`` selects files by their paths in the folder; None selects all.
    """
    page: Page = {}
    for name, entry in _walk(files(package).joinpath(folder)):
        kind = TYPES.get(name.rpartition(".")[2])
        if kind is not None and (names is None or name in names):
            page["" if name == "index.html" else name] = (kind, entry.read_bytes())
    return page


def _walk(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files in a folder and its subfolders, with their paths relative to the folder."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{above}{entry.name}/")
        else:
            yield above + entry.name, entry


def is_own_host(header: str, host: str, port: int) -> bool:
    """Return whether a Host header is ``host``, localhost or an IP address, with ``port``.

    Other names are refused because of DNS rebinding: a foreign site whose name resolves to this
    machine could read the server's answers.
    """
    try:
        parts = urlsplit(f"//{header}")
        name, header_port = parts.hostname or "", parts.port or 80
    except ValueError:
        return False
    if header_port != port or parts.username is not None:
        return False
    if name in ("localhost", host):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _reachable(host: str) -> str:
    """Return this machine's address in its network for a host that means all addresses."""
    remote = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}.get(host)  # Reserved for documents.
    if remote is None:
        return host
    with suppress(OSError), socket(AF_INET6 if ":" in host else AF_INET, SOCK_DGRAM) as probe:
        probe.connect((remote, 9))  # Chooses a route, and sends nothing.
        return str(probe.getsockname()[0])
    return "::1" if ":" in host else "127.0.0.1"


class LocalServer(ThreadingHTTPServer):
    """HTTP server with a thread for each connection, and a limit of connections."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, handler: type[LocalHandler]) -> None:
        """Listen on a port, or with 0 on a free port; raise OSError if that fails."""
        if ":" in host:
            self.address_family = AF_INET6
        self._open: set[socket] = set()
        self._waiting: dict[socket, float] = {}
        """Connections whose timeout is running, with its start (`monotonic`), oldest first."""
        self._streams: dict[socket, None] = {}
        """Connections that are event streams, oldest first."""
        self._lock = Lock()
        super().__init__((host, port), handler)
        self.host = host
        self.port = int(self.server_address[1])

    @property
    def root(self) -> str:
        """The server's base URL."""
        host = _reachable(self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def server_bind(self) -> None:
        """Bind the port; HTTPServer's own method looks the host name up, which may be slow."""
        TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a new thread.

        At `MAX_CONNECTIONS`, end the connection that has waited longest for its request; if no
        connection waits, end the new connection.
        """
        with self._lock:
            if len(self._open) >= MAX_CONNECTIONS and self._waiting:
                self._end(next(iter(self._waiting)))
            accepted = len(self._open) < MAX_CONNECTIONS
            if accepted:
                self._open.add(request)
                self._waiting[request] = monotonic()
        if accepted:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def service_actions(self) -> None:
        """End connections whose request is overdue; `serve_forever` calls this regularly."""
        with self._lock:
            latest = monotonic() - READ_SECONDS
            overdue = [waiting for waiting, start in self._waiting.items() if start < latest]
            for connection in overdue:
                self._end(connection)

    def _end(self, connection: socket) -> None:
        """Shut a connection down, and stop counting it; the caller holds the lock."""
        self._remove(connection)
        with suppress(OSError):
            connection.shutdown(SHUT_RDWR)

    def _remove(self, connection: socket) -> None:
        """Stop counting a connection; the caller holds the lock."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)
        self._streams.pop(connection, None)

    def await_request(self, connection: socket) -> None:
        """Start the timeout of a connection that must send a request or read an answer."""
        with self._lock:
            if connection in self._open:
                self._waiting.setdefault(connection, monotonic())

    def take_request(self, connection: socket) -> bool:
        """End the timeout of a connection whose request is complete.

        Return False if the connection has been ended meanwhile.
        """
        with self._lock:
            self._waiting.pop(connection, None)
            return connection in self._open

    def begin_stream(self, connection: socket) -> None:
        """Count a connection as a stream; at `MAX_STREAMS`, end the oldest stream.

        The page of the ended stream connects again if it is still open.
        """
        with self._lock:
            if len(self._streams) >= MAX_STREAMS:
                self._end(next(iter(self._streams)))
            if connection in self._open:
                self._streams[connection] = None

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, then stop counting it."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._remove(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error outside of requests, except `CONNECTION_ERRORS`."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, CONNECTION_ERRORS):
            unexpected(error)


CONNECTION_ERRORS = (ConnectionError, TimeoutError)
"""Errors of a connection that the browser has closed or does not read."""


class Refusal(Exception):
    """The refusal of a request; its arguments are an HTTP status and a reason."""


class LocalHandler(BaseHTTPRequestHandler):
    """A connection of a browser."""

    server: LocalServer
    protocol_version = "HTTP/1.1"
    timeout = READ_SECONDS
    connection: socket

    def version_string(self) -> str:
        """Return the server's name, without a version."""
        return "merels"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, because an address may contain the token."""

    def handle_one_request(self) -> None:
        """Await a request and answer it."""
        self.server.await_request(self.connection)
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read a request's headers; return whether to answer it.

        The timeout of a POST request runs until `read_body` has read the body.
        """
        if not super().parse_request():
            return False
        return self.command == "POST" or self.server.take_request(self.connection)

    def read_body(self, maximum: int) -> bytes:
        """Read a request's body; raise `Refusal` without a length or above ``maximum`` bytes."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 9 or int(length) > maximum:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {maximum} bytes")
        data = self.rfile.read(int(length))
        if not self.server.take_request(self.connection) or len(data) < int(length):
            raise ConnectionAbortedError("the connection ended within a request")
        return data

    def end_headers(self) -> None:
        """Add `HEADERS`, and end the headers."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def answer(self, work: Callable[[], None]) -> None:
        """Call ``work``, which answers a request; turn its errors into answers."""
        try:
            work()
        except Refusal as refusal:
            self.refuse(*refusal.args)
        except CONNECTION_ERRORS:
            raise
        except Exception as error:
            self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR, unexpected(error))

    def check_host(self) -> None:
        """Raise `Refusal` if the Host header is not this server's."""
        if not is_own_host(self.headers.get("Host", ""), self.server.host, self.server.port):
            raise Refusal(HTTPStatus.FORBIDDEN, "the Host header does not name this server")

    def check_site(self) -> None:
        """Raise `Refusal` for a request from another site, or for another host or port."""
        self.check_host()
        own = f"http://{self.headers['Host']}"
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.headers.get("Origin", own) != own or site not in ("none", "same-origin"):
            raise Refusal(HTTPStatus.FORBIDDEN, "requests from other sites are refused")

    def split_path(self) -> tuple[str, str]:
        """Return the path and the query of the request's address, or raise `Refusal`."""
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise Refusal(HTTPStatus.BAD_REQUEST, "malformed address") from None
        return parts.path, parts.query

    def send_file(self, page: Page, name: str) -> None:
        """Send a file of a page; raise `Refusal` if the page has no such file."""
        if name not in page:
            raise Refusal(HTTPStatus.NOT_FOUND, "no such page")
        kind, data = page[name]
        self.send(HTTPStatus.OK, data, kind)

    def send(
        self, status: HTTPStatus, data: bytes, kind: str = "application/json",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Send a whole answer, after starting the timeout of the next request."""
        self.server.await_request(self.connection)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_events(self, take: Callable[[float], bytes | None]) -> None:
        """Send an event stream until ``take`` returns None or the browser closes it.

        ``take`` waits for events for at most the given seconds and returns them encoded, or b"".
        """
        self.close_connection = True
        self.server.begin_stream(self.connection)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        while self.command != "HEAD" and (events := take(PING_SECONDS)) is not None:
            self.wfile.write(events or b": ping\n\n")

    def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Send an error and end the connection; the rest of the request is not used."""
        self.close_connection = True
        self.send(status, json.dumps(with_templates({"error": reason})).encode())
        if self.command == "POST":
            self._drain()

    def _drain(self) -> None:
        """Discard up to 4 MiB of input, until none arrives for half a second.

        Closing a connection with unread input resets it, and the browser would lose the answer.
        """
        try:
            self.wfile.flush()
            self.connection.settimeout(0.5)
            for _ in range(64):
                if not self.connection.recv(1 << 16):
                    break
            self.connection.shutdown(SHUT_RDWR)
        except OSError:
            pass
