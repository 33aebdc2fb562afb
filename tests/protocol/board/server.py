"""A real ``merels board`` process, and a client for its requests and events."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.server import BoardServer
from tests.commands import MERELS
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.protocol.board.steps import ANALYST, PERSON, stop_engines

COMMAND = [*MERELS, "board", "-no-open"]


def in_english(data: Any) -> Any:
    """Return an answer's data with the text of each message, as an English page shows it."""
    if isinstance(data, dict):
        return {name: in_english(value) for name, value in data.items()}
    if isinstance(data, list) and [type(each) for each in data] == [str, dict]:
        return data[0].format_map(in_english(data[1]))
    return [in_english(each) for each in data] if isinstance(data, list) else data


class Client:
    """A client of a board's server, with the cookie that its start address gives."""

    server: BoardServer
    """The server, if it runs in this process."""

    def __init__(self, start_address: str) -> None:
        self.start_address = start_address
        parts = urlsplit(start_address)
        self.host = f"{parts.hostname}:{parts.port}"
        self.address = f"http://{self.host}/"
        self.port = parts.port or 0
        self.cookie = ""
        self._let_in: list[Browser] = []
        status, _, answer = self.ask("GET", parts.path)
        assert status == 200, "the start address was refused"
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def let_in(self, browser: Browser) -> None:
        """Give a real browser the cookie, unless it already has it."""
        if browser not in self._let_in:
            browser.open(self.start_address)
            browser.wait("location.pathname === '/' && document.readyState !== 'loading'")
            self._let_in.append(browser)

    def open_page(self, browser: Browser, width: int = 1280, height: int = 860) -> None:
        """Close all tabs but the first, open the page in it, and wait for the board."""
        stop_engines(browser)
        browser.keep_tab(browser.tabs()[0])
        browser.set_view(width, height)
        self.let_in(browser)
        browser.open(self.address)
        browser.wait_for_count(".target", 24)

    def ask(
        self, method: str, path: str, body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes, HTTPResponse]:
        """Return status, content and response of a request; ``headers`` may override the cookie."""
        headers = {"Cookie": self.cookie} | (headers or {})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer
        finally:
            connection.close()

    def api(self, action: str, **body: Any) -> tuple[int, dict[str, Any]]:
        """Send a request as the page does; return the status and the JSON of the answer."""
        headers = {"Content-Type": "application/json", "Origin": f"http://{self.host}"}
        status, data, _ = self.ask("POST", f"/api/{action}", json.dumps(body).encode(), headers)
        return status, in_english(json.loads(data))

    def open(self) -> str:
        """Open a new board and return its name."""
        return str(self.api("open")[1]["session"])

    def begin(self, white: Any = None, black: Any = None, **more: Any) -> str:
        """Begin a game on a new board and return the board's name; by default two users play."""
        session = self.open()
        players = [white or PERSON, black or PERSON, ANALYST]
        assert self.api("new", session=session, players=players, **more)[0] == 200
        return session

    def stream(self, session: str) -> Stream:
        """Return an event stream of a board."""
        return Stream(self, session)


class Server(Client):
    """A ``merels board`` process; a context manager that ends it."""

    def __init__(
        self, *flags: str, games: Path | None = None, puzzles: Path | None = None,
        tables: bool = False,
    ) -> None:
        """Start the process with command line ``flags``.

        ``games`` is the folder of stored games, by default a temporary folder. ``puzzles`` is the
        folder of the puzzle rating, by default that of the games. ``tables``: build tables in the
        background.
        """
        self._stderr = tempfile.TemporaryFile()
        self._games = tempfile.TemporaryDirectory()
        folder = str(games or self._games.name)
        environment = os.environ | {
            "MERELS_GAMES": folder, "MERELS_PUZZLES": str(puzzles or folder)
        }
        self._process = subprocess.Popen(
            [*COMMAND, *([] if tables else ["-no-tables"]), *flags],
            stdout=subprocess.PIPE, stderr=self._stderr, env=environment,
        )
        try:
            super().__init__(self._printed_address())
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
        """End the process by SIGINT; return its exit code, or raise after ``seconds``."""
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

    def engines(self, count: int = 1) -> list[int]:
        """Wait until ``count`` engines run; return their process ids, the newest last."""
        return wait(lambda: len(ids := self._children()) >= count and ids, 60, "engines")

    def _children(self) -> list[int]:
        ids = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                parent = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[1]
                words = Path(f"/proc/{name}/cmdline").read_bytes()
                if int(parent) == self.pid and b"guardian" not in words:
                    ids.append(int(name))
        return sorted(ids)

    def _printed_address(self) -> str:
        """Return the start address that the process prints."""
        assert self._process.stdout is not None
        output = b""
        while (address := re.search(rb"(http://\S+)\n", output)) is None:
            ready, _, _ = select.select([self._process.stdout], [], [], 60)
            data = os.read(self._process.stdout.fileno(), 4096) if ready else b""
            assert data, f"the board prints no address: {self.errors()}"
            output += data
        return address[1].decode()

    def errors(self) -> str:
        """Return the process's standard error so far."""
        end = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), end, 0).decode("utf-8", "replace")


@contextmanager
def serving_here() -> Iterator[Client]:
    """Run a board's server in threads of this process, so that a test can patch its parts."""
    server = BoardServer("127.0.0.1", 0, [OWN_ENGINE])
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        client = Client(server.start_address)
        client.server = server
        yield client
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Stream:
    """An event stream of a board; a context manager that closes the connection."""

    def __init__(self, server: Client, session: str) -> None:
        self._connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._connection.request(
            "GET", f"/events?session={session}", headers={"Cookie": server.cookie}
        )
        self._answer = self._connection.getresponse()
        self.status = self._answer.status

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._answer.close()
        self._connection.close()

    def next(self, seconds: float = 60.0) -> tuple[str, Any]:
        """Return the kind and the data of the next event."""
        kind = ""
        deadline = time.monotonic() + seconds
        while True:
            if time.monotonic() > deadline:
                raise AssertionError(f"no event in {seconds:g} s")
            line = self._answer.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                return kind, in_english(json.loads(line[6:]))

    def until(self, wanted: str, test: Any, seconds: float = 60.0) -> Any:
        """Return the data of the first event of a kind that passes ``test``."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            kind, data = self.next(seconds)
            if kind == wanted and data is not None and test(data):
                return data
        raise AssertionError(f"no matching event {wanted} in {seconds:g} s")


def alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
