"""Fuzzing of the board's HTTP server with raw bytes; the server is a real process."""

from __future__ import annotations

import json
import random
import re
import socket

from tests.fuzz.harness import Case, Defect, Fuzzer, Hang, Tally
from tests.fuzz.mutate import NUMBERS, spoil
from tests.protocol.board.server import Server

PATIENCE = 120.0
"""Seconds to wait for an answer."""
_BODIES: tuple[tuple[str, dict[str, object]], ...] = (
    ("open", {}),
    ("new", {"variant": "morris", "fields": {"Flying": "never"}, "position": "",
             "players": [{"engine": None}, {"engine": None}, {"engine": 0, "level": "Full"}]}),
    ("new", {"time": {"kind": "clock", "base": 60, "increment": 1}}),
    ("players", {"players": [{}, {}, {"engine": 0, "level": "Club"}],
                 "time": {"kind": "move", "seconds": 1}}),
    ("play", {"move": "d6", "at": 0}),
    ("undo", {}),
    ("go", {"node": 0}),
    ("redo", {}),
    ("resign", {}),
    ("draw", {"how": "offer"}),
    ("analyse", {"on": False}),
    ("evaluation", {"on": False, "lines": 2}),
    ("check", {"text": "********/********/******** w 9 9 0 1", "variant": "loc"}),
    ("play_on", {}),
    ("promote", {"node": 1}),
    ("delete", {"node": 1}),
    ("comment", {"node": 0, "text": "well"}),
    ("pause", {"on": True}),
    ("load", {"text": "1. d6 f4 2. d2 *"}),
    ("load", {"text": "********/********/******** w 9 9 0 1", "variant": "loc"}),
    ("load", {"text": "1. d6 ( 1. f4 ) f4 * 1. d2 *", "game": 1}),
    ("games", {"query": "player"}),
    ("keep", {"text": "1. d6 f4 *"}),
    ("reopen", {"key": "20260101-120000-000000-abcdef"}),
    ("forget", {"key": "../record"}),
    ("all_games", {"query": ""}),
    ("export", {}),
    ("hidden", {}),
    ("nonsense", {"on": []}),
)
"""Requests that start no engine, so that they are fast."""
_VALUES: tuple[object, ...] = (
    None, True, False, 0, -1, 1, 2.5, 1e300, 10**40, "", "x", "\ud800", [], [[]], {}, "d6",
    float("nan"), "9" * 400, {"a": {}}, ["\0"],
)


class Boards(Fuzzer):
    """Requests with damaged request line, headers, cookie or body; truncated and oversized ones.

    A case is the request, and whether the sender waits for the answer or closes the connection.
    ``COOKIE``, ``PORT``, ``BOARD`` and ``LENGTH`` in the request are replaced by the server's
    values and the body's length.
    """

    name = "board"
    unit = "requests"

    def __enter__(self) -> Boards:
        self._server = Server()
        self._board = self._server.open()
        self._seat_persons()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def refresh(self) -> None:
        """Open a new board."""
        self._board = self._server.open()
        self._seat_persons()

    def _seat_persons(self) -> None:
        """Make all players of the board persons, so that no engine starts."""
        players = [{"engine": None}, {"engine": None}, {"engine": 0}]
        self._server.api("players", session=self._board, players=players)

    def make(self, chance: random.Random) -> Case:
        """Return a random request, and whether its sender waits."""
        if chance.random() < 0.35:
            names = ("", "app.js", "theme.css", "events?session=BOARD", "events?session=x",
                     "events?a=1&b=2&c=3&d=4&e=5&session=x", "nothing", "../server.py", "%00",
                     "start/", "start/code")
            text = _request("GET", chance.choice(names), "", chance)
        else:
            action, body = chance.choice(_BODIES)
            text = _request("POST", f"api/{action}", _body(body, chance), chance)
        if chance.random() < 0.6:
            text = spoil(text, chance, (text,))
        if chance.random() < 0.02:
            header = "X: " + "y" * chance.choice((70_000, 2_000_000))
            text = text.replace("\r\n", f"\r\n{header}\r\n", 1)
        if chance.random() < 0.02:
            text = text.replace("\r\n", "\r\nX: y" * 300 + "\r\n", 1)
        return [text, chance.choice(("wait", "wait", "wait", "break"))]

    def check(self, case: Case) -> Tally:
        """Send a request; the server must answer or hang up, and serve the page afterwards."""
        text = case[0]
        for word, value in (("COOKIE", self._server.cookie), ("PORT", str(self._server.port)),
                            ("BOARD", self._board)):
            text = text.replace(word, value)
        text = text.replace("LENGTH", str(len(text.partition("\r\n\r\n")[2])))
        answer = self._send(text.encode("utf-8", "replace"), case[-1] == "wait")
        status, page, _ = self._server.ask("GET", "/")
        if status != 200 or b"<html" not in page:
            raise Defect(f"the page is no longer served: {status}")
        if self._server.errors():
            raise Defect(f"on standard error: {self._server.errors()[-300:]}")
        # The answer to a request of HTTP 0.9 has no status line.
        line = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
        if line is None:
            return Tally(rejected=1)
        if line[1] not in (b"200", b"204", *_REFUSALS):
            raise Defect(f"status {line[1].decode()}")
        return Tally(accepted=1) if line[1] in (b"200", b"204") else Tally(rejected=1)

    def _send(self, data: bytes, wait: bool) -> bytes:
        """Send some bytes; return the answer, or b"" if the sender does not wait."""
        with socket.create_connection(("127.0.0.1", self._server.port), PATIENCE) as connection:
            answer = b""
            try:
                connection.sendall(data)
                if not wait:
                    return b""
                connection.shutdown(socket.SHUT_WR)
                # An event stream has no end; its first piece is enough.
                while b"text/event-stream" not in answer and (chunk := connection.recv(1 << 16)):
                    answer += chunk
            except TimeoutError:
                raise Hang("no answer: a hang") from None
            except OSError:
                pass  # The server has closed the connection.
            return answer


_REFUSALS = (b"400", b"403", b"404", b"405", b"411", b"413", b"414", b"415", b"431", b"501", b"502",
             b"505")


def _request(method: str, name: str, body: str, chance: random.Random) -> str:
    """Return a request like those of the page."""
    length = chance.choice(NUMBERS) if chance.random() < 0.05 else "LENGTH"
    origin = "Origin: http://127.0.0.1:PORT\r\n" if chance.random() < 0.5 else ""
    content = f"Content-Type: application/json\r\nContent-Length: {length}\r\n" if body else ""
    return (
        f"{method} /{name} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nCookie: COOKIE\r\n{origin}{content}"
        f"Connection: close\r\n\r\n{body}"
    )


def _body(body: dict[str, object], chance: random.Random) -> str:
    """Return a request's JSON with some values replaced."""
    body = {"session": "BOARD", **body}
    for name in body:
        if chance.random() < 0.15:
            body[name] = chance.choice(_VALUES)
    return json.dumps(body)
