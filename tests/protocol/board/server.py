"""A real ``merels board`` process, and requests to it."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from merels.protocol.board.seat import OWN
from merels.protocol.board.server import BoardServer
from tests.protocol.board.steps import ANALYST, PERSON
from tests.protocol.board.webdriver import Browser

COMMAND = [sys.executable, "-m", "merels.tournament.commands.main", "board", "-no-open"]


class Client:
    """A browser's requests to a board's server; ``entry`` returns addresses that let one in."""

    def __init__(self, entry: Callable[[], str]) -> None:
        self.entry = entry
        parts = urlsplit(entry())
        self.host = f"{parts.hostname}:{parts.port}"
        self.address = f"http://{self.host}/"
        self.port = parts.port or 0
        self.cookie = ""
        self._let_in: list[Browser] = []
        status, _, answer = self.ask("GET", parts.path)
        assert status == 200, "the address lets nobody in"
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def let_in(self, browser: Browser) -> None:
        """Let a real browser in, once."""
        if browser not in self._let_in:
            browser.open(self.entry())
            browser.wait("location.pathname === '/' && document.readyState !== 'loading'")
            self._let_in.append(browser)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes, HTTPResponse]:
        """Status, content and headers of an answer; ``headers`` may hold another cookie."""
        headers = {"Cookie": self.cookie} | (headers or {})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer
        finally:
            connection.close()

    def api(self, action: str, **body: Any) -> tuple[int, dict[str, Any]]:
        """Status and JSON of a request as the page makes it."""
        headers = {"Content-Type": "application/json", "Origin": f"http://{self.host}"}
        status, data, _ = self.ask("POST", f"/api/{action}", json.dumps(body).encode(), headers)
        return status, json.loads(data)

    def open(self) -> str:
        """A new board's name."""
        return str(self.api("open")[1]["session"])

    def begin(self, white: Any = None, black: Any = None, **more: Any) -> str:
        """The name of a new board with a new game; without engines, two persons play."""
        session = self.open()
        players = [white or PERSON, black or PERSON, ANALYST]
        assert self.api("new", session=session, players=players, **more)[0] == 200
        return session

    def values(self, session: str, seat: int) -> dict[str, str]:
        """The options' values of the engine in a seat."""
        options = self.api("options", session=session, seat=seat)[1]["options"]
        return {option["name"]: option["value"] for option in options}

    def stream(self, session: str) -> Stream:
        """A board's news."""
        return Stream(self, session)

class Server(Client):
    """The process and its address; a context manager that ends it."""

    def __init__(
        self, *flags: str, games: Path | None = None, puzzles: Path | None = None
    ) -> None:
        """``games`` is the folder for its games, and ``puzzles`` for the rating in puzzles; by
        default the games go with the server, and the rating is where the games are."""
        self._stderr = tempfile.TemporaryFile()
        self._games = tempfile.TemporaryDirectory()
        folder = str(games or self._games.name)
        environment = os.environ | {
            "MERELS_GAMES": folder, "MERELS_PUZZLES": str(puzzles or folder)
        }
        self._process = subprocess.Popen(
            [*COMMAND, *flags], stdout=subprocess.PIPE, stderr=self._stderr, env=environment
        )
        self._said = b""
        try:
            super().__init__(self._next_address)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        self.pid = self._process.pid

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self, seconds: float = 60.0) -> int:
        """End it as Ctrl-C does, within so many seconds; its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(seconds)
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._games.cleanup()

    def _next_address(self) -> str:
        """The next address that the process prints."""
        assert self._process.stdout is not None
        while (found := re.search(rb"(http://\S+)\n", self._said)) is None:
            ready, _, _ = select.select([self._process.stdout], [], [], 60)
            said = os.read(self._process.stdout.fileno(), 4096) if ready else b""
            assert said, f"the board gives no address: {self.errors()}"
            self._said += said
        self._said = self._said[found.end():]
        return found[1].decode()

    def errors(self) -> str:
        """What the process has written to standard error so far."""
        end = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), end, 0).decode("utf-8", "replace")


@contextmanager
def serving_here() -> Iterator[Client]:
    """A board's server in threads of this process, whose parts a test can exchange."""
    server = BoardServer("127.0.0.1", 0, [OWN])
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield Client(server.new_address)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Stream:
    """A stream of news; a context manager that breaks the connection."""

    def __init__(self, server: Client, session: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._connection.request(
            "GET", f"/events?session={session}", headers={"Cookie": server.cookie}
        )
        self._answer = self._connection.getresponse()
        self.status = self._answer.status
        self.pids: list[int] = []

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Break the connection."""
        self._answer.close()
        self._connection.close()

    def next(self, seconds: float = 60.0) -> tuple[str, Any]:
        """The kind and content of the next news."""
        kind = ""
        deadline = time.monotonic() + seconds
        while True:
            if time.monotonic() > deadline:
                raise AssertionError(f"no news in {seconds:g} s")
            line = self._answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                news = json.loads(line[6:])
                if kind == "log":
                    self.pids += [int(text.rpartition("pid ")[2].rstrip(")"))
                                  for _, way, text in news if way == "!" and "(pid " in text]
                return kind, news

    def until(self, wanted: str, test: Any, seconds: float = 60.0) -> Any:
        """The first news of a kind that passes a test."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            kind, news = self.next(seconds)
            if kind == wanted and news is not None and test(news):
                return news
        raise AssertionError(f"no such {wanted} in {seconds:g} s")

    def until_go(self) -> list[list[str]]:
        """The lines of the log with the next ``go`` that gives an engine its clock."""
        lines: list[list[str]] = self.until(
            "log", lambda log: any("go wtime" in line[2] for line in log)
        )
        return lines


def alive(pid: int) -> bool:
    """Whether a process exists and is not merely waiting to be reaped."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (OSError, FileNotFoundError):
        return False
