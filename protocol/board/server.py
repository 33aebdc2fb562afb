"""The board's web server: a few files, a few requests, and a stream of news.

It trusts nobody. The address contains a random token, and without it nothing is served. The files
are read once at the start and looked up by name in a table: no path ever reaches the disk. A
request from another site's page names that site in its headers, and is refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socket import AF_INET6, SHUT_RDWR, socket
from socketserver import TCPServer
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import parse_qs, urlsplit

from merels.engine.game.errors import InputError
from merels.protocol.board.actions import act
from merels.protocol.board.own_host import is_own_host
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.view import about_view, news_view
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineError

LARGEST_BODY = 1 << 20
MOST_CONNECTIONS = 128
READ_SECONDS = 30.0
PING_SECONDS = 3.0
"""How often a quiet stream is written to: a vanished browser is noticed by writing to it."""

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def read_page() -> dict[str, tuple[str, bytes]]:
    """The type and content of the page's files by name; the index has the empty name."""
    page = {}
    for entry in files("merels.protocol.board").joinpath("page").iterdir():
        kind = TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None:
            page["" if entry.name == "index.html" else entry.name] = (kind, entry.read_bytes())
    return page


class BoardServer(ThreadingHTTPServer):
    """Serves boards until `shutdown`; ``address`` is what to open in a browser."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, choices: Sequence[EngineSpec]) -> None:
        """Listen on a port, or with 0 on a free one; players can be any engine of ``choices``."""
        if ":" in host:
            self.address_family = AF_INET6
        self.token = secrets.token_urlsafe(24)
        self.page = read_page()
        self.sessions = Sessions(choices)
        self._places = BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((host, port), Handler)
        self.host = host
        self.port = int(self.server_address[1])

    def server_bind(self) -> None:
        """Bind the port, without the library's look-up of the host name."""
        TCPServer.server_bind(self)

    @property
    def address(self) -> str:
        """The page's address with its token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, unless there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report nothing of a browser that vanishes in the middle of a request."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stop listening, and end every board with its engines."""
        super().server_close()
        self.sessions.close()


class _Refusal(Exception):
    """A request is refused: with which HTTP status, and why."""


class Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: BoardServer
    protocol_version = "HTTP/1.1"
    timeout = READ_SECONDS
    connection: socket

    def version_string(self) -> str:
        """The server's name, without a version."""
        return "merels"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the address contains the token."""

    def end_headers(self) -> None:
        """Add the headers that keep other sites out."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:
        """Send a file of the page, or the stream of news."""
        self._serve(self._get)

    def do_POST(self) -> None:
        """Carry out a request of the page."""
        self._serve(self._post)

    def _serve(self, answer: Callable[[str, str], None]) -> None:
        """Answer a request for a path after the token, with its query, or refuse it."""
        try:
            answer(*self._place())
        except _Refusal as refusal:
            self._refuse(*refusal.args)
        except InputError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except EngineError as error:
            self._refuse(HTTPStatus.BAD_GATEWAY, str(error))

    def _get(self, name: str, query: str) -> None:
        if name == "events":
            self._stream(query)
        elif name in self.server.page:
            kind, data = self.server.page[name]
            self._send(HTTPStatus.OK, data, kind)
        else:
            raise _Refusal(HTTPStatus.NOT_FOUND, "no such page")

    def _post(self, name: str, query: str) -> None:
        body = self._body()
        folder, _, action = name.partition("/")
        if folder != "api" or not action:
            raise _Refusal(HTTPStatus.NOT_FOUND, "no such request")
        answer = self._act(action, body)
        self._send(HTTPStatus.OK, json.dumps(answer).encode(), "application/json")

    def _act(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        """Carry out an action on the board that the request names."""
        sessions = self.server.sessions
        session = sessions.get(body.get("session"))
        if action == "open":
            session = session or sessions.open()
            return {"session": session.name, "about": about_view(sessions.choices)}
        if session is None:
            raise InputError("board", "this board is gone; reload the page")
        return act(session, action, body)

    def _place(self) -> tuple[str, str]:
        """The path after the token, and the query."""
        if not is_own_host(self.headers.get("Host", ""), self.server.host, self.server.port):
            raise _Refusal(HTTPStatus.FORBIDDEN, "this is not the server's name")
        own = f"http://{self.headers['Host']}"
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.headers.get("Origin", own) != own or site not in ("none", "same-origin"):
            raise _Refusal(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        try:
            parts = urlsplit(self.path)
        except ValueError:
            raise _Refusal(HTTPStatus.BAD_REQUEST, "malformed address") from None
        token, slash, name = parts.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            reason = "the address lacks its token; open the one that was printed"
            raise _Refusal(HTTPStatus.FORBIDDEN, reason)
        if not slash:
            raise _Refusal(HTTPStatus.NOT_FOUND, "the address must end in a slash")
        return name, parts.query

    def _body(self) -> dict[str, Any]:
        """The request's JSON object."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            reason = f"expected at most {LARGEST_BODY} bytes"
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        if self.headers.get_content_type() != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected JSON")
        data = self.rfile.read(int(length))
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        return body

    def _stream(self, query: str) -> None:
        """Send news of a board until the browser or the board is gone."""
        try:
            names = parse_qs(query, max_num_fields=4).get("session", [])
        except ValueError:
            names = []
        session = self.server.sessions.get(names[0]) if names else None
        if session is None:
            # This status tells a browser not to reconnect.
            self._send(HTTPStatus.NO_CONTENT, b"", TYPES["html"])
            return
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        feed = session.subscribe()
        try:
            while (kinds := feed.take(PING_SECONDS)) is not None:
                parts = [
                    f"event: {kind}\ndata: {json.dumps(news_view(session, kind, feed))}\n\n"
                    for kind in sorted(kinds)
                ]
                self.wfile.write("".join(parts or [": still here\n\n"]).encode())
        except OSError:
            pass  # The browser is gone.
        finally:
            session.unsubscribe(feed)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Refuse the request and end the connection, without reading the rest of the request."""
        self.close_connection = True
        self._send(status, json.dumps({"error": why}).encode(), "application/json")
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

    def _send(self, status: HTTPStatus, data: bytes, kind: str) -> None:
        """Send a whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
