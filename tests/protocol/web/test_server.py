"""The web server of board and broadcast: limits on connections and requests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus

import pytest

from merels.protocol.web import server as web_server
from merels.protocol.web.server import LocalHandler, LocalServer
from tests.kit.waiting import wait

PATIENCE = 30.0
"""Timeout of a wait for the server, in seconds."""
MAX_CONNECTIONS, MAX_STREAMS = 20, 12


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set low limits, which a test reaches quickly."""
    monkeypatch.setattr(web_server, "MAX_CONNECTIONS", MAX_CONNECTIONS)
    monkeypatch.setattr(web_server, "MAX_STREAMS", MAX_STREAMS)


class Handler(LocalHandler):
    """A handler that answers GET requests, refuses POST to ``/refuse`` and echoes other POSTs."""

    def do_GET(self) -> None:
        """Respond; for ``/stream``, keep a stream open until its connection ends."""
        if self.path == "/stream":
            self.server.begin_stream(self.connection)
            self.send(HTTPStatus.OK, b"")
            self.connection.recv(1)
        else:
            self.send(HTTPStatus.OK, b"here" * (1 << 18 if self.path == "/large" else 1))

    def do_POST(self) -> None:
        """Refuse at once, or send the request's body back."""
        if self.path == "/refuse":
            self.refuse(HTTPStatus.FORBIDDEN, "no")
        else:
            self.send(HTTPStatus.OK, self.read_body(1 << 20))


@contextmanager
def serving() -> Iterator[LocalServer]:
    """Run a server in threads of this process."""
    server = LocalServer("127.0.0.1", 0, Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(server: LocalServer, data: bytes) -> socket.socket:
    """Open a connection, send data on it, and return it."""
    connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    connection.sendall(data)
    return connection


def is_served(server: LocalServer) -> bool:
    """Return whether a new connection gets a response."""
    try:
        with send(server, b"GET / HTTP/1.1\r\n\r\n") as connection:
            return connection.recv(64).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


def is_open(connection: socket.socket) -> bool:
    """Return whether a connection is still open."""
    connection.setblocking(False)
    try:
        return connection.recv(1 << 16) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


@pytest.mark.parametrize("unfinished", [
    b"GET / HTTP/1.1\r\nX: half a header",
    b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\nhalf a body",
])
def test_unfinished_requests_do_not_block_other_requests(unfinished: bytes) -> None:
    with serving() as server, ExitStack() as stack:
        connections = [
            stack.enter_context(send(server, unfinished)) for _ in range(MAX_CONNECTIONS + 20)
        ]
        assert is_served(server)
        wait(lambda: not is_open(connections[0]), PATIENCE, "the end of the oldest connection")


def test_refused_requests_that_keep_sending_do_not_block_other_requests() -> None:
    request = b"POST /refuse HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"
    with serving() as server, ExitStack() as stack:
        connections: list[socket.socket] = []
        for _ in range(MAX_CONNECTIONS + 20):
            connections.append(stack.enter_context(send(server, request)))
            assert connections[-1].recv(64).startswith(b"HTTP/1.1 403")
            for connection in connections:
                with suppress(ConnectionError):
                    connection.sendall(b"x")
        assert is_served(server)


def test_unread_responses_do_not_block_other_requests() -> None:
    requests = b"GET /large HTTP/1.1\r\n\r\n" * 10
    with serving() as server, ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            stack.enter_context(send(server, requests)).recv(1)
        assert is_served(server)


def test_streams_do_not_block_other_requests() -> None:
    with serving() as server, ExitStack() as stack:
        streams = []
        for _ in range(MAX_CONNECTIONS + 20):
            streams.append(stack.enter_context(send(server, b"GET /stream HTTP/1.1\r\n\r\n")))
            assert streams[-1].recv(64).startswith(b"HTTP/1.1 200")
        assert is_served(server)
        wait(lambda: sum(map(is_open, streams)) == MAX_STREAMS, PATIENCE, "the end of old streams")
        assert is_open(streams[-1])


@pytest.mark.parametrize("start", [
    b"GET / HTTP/1.1\r\nX: ",
    b"POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n",
])
def test_a_request_that_comes_byte_by_byte_is_ended(
    start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "READ_SECONDS", 0.3)
    with serving() as server, send(server, start) as connection:

        def is_ended() -> bool:
            try:
                connection.sendall(b"x")
            except ConnectionError:
                return True
            return False

        wait(is_ended, PATIENCE, "the end of a slow request")
        assert is_served(server)
