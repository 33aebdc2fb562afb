"""Fixtures of the board's tests."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from tests.processes import FAKE
from tests.protocol.board.server import Server
from tests.protocol.board.steps import console_errors, stop_engines
from tests.protocol.board.webdriver import Browser

BUSY = (sys.executable, str(Path(__file__).parent / "busy.py"))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with merels as engine 0 and three fake engines, shared by the tests of a file.

    Engine 1 moves at once, engine 2 floods its output, and engine 3 never ends a search.
    """
    fake = ("-engine", f"cmd={shlex.join(FAKE)} sound", "name=Fake")
    busy = ("-engine", f"cmd={shlex.join(BUSY)}", "name=Busy")
    mute = ("-engine", f"cmd={shlex.join(FAKE)} never", "name=Mute")
    with Server(*fake, *busy, *mute) as started:
        yield started


@pytest.fixture
def session() -> Iterator[Session]:
    """A board without a server and without a page that shows it."""
    session = Session("board", [OWN_ENGINE])
    yield session
    session.close()


@pytest.fixture
def clock_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that the clocks of games read, in seconds: a list of one number to change."""
    now = [1000.0]
    monkeypatch.setattr("merels.protocol.games.clock.monotonic", lambda: now[0])
    return now


@pytest.fixture
def page(server: Server, chromium: Browser) -> Iterator[Browser]:
    """A browser with a new board at desktop size; the test must leave no console errors."""
    chromium.keep_tab(chromium.tabs()[0])
    chromium.set_view(1280, 860)
    server.let_in(chromium)
    # A file of the same origin gives access to sessionStorage without running the page's scripts.
    chromium.open(server.address + "theme.css")
    chromium.run("sessionStorage.clear(); localStorage.clear()")
    chromium.open(server.address)
    chromium.wait_for_count(".target", 24)
    # Hide the offer to resume the game of an earlier test.
    chromium.run("document.getElementById('resume').hidden = true")
    yield chromium
    errors = console_errors(chromium)
    stop_engines(chromium)
    assert errors == []
