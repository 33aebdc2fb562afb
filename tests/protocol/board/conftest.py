"""Fixtures of the board's tests: one server and one browser for each file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.protocol.board.seat import OWN
from merels.protocol.board.session import Session
from tests.processes import FAKE
from tests.protocol.board.server import Server
from tests.protocol.board.steps import complaints
from tests.protocol.board.webdriver import Browser

BUSY = (sys.executable, str(Path(__file__).parent / "busy.py"))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A board with three more engines: the second answers at once with a random move, the third
    writes a lot, and the fourth never answers."""
    fake = ("-engine", f"cmd={shlex.join(FAKE)} sound", "name=Fake")
    busy = ("-engine", f"cmd={shlex.join(BUSY)}", "name=Busy")
    mute = ("-engine", f"cmd={shlex.join(FAKE)} never", "name=Mute")
    with Server(*fake, *busy, *mute) as started:
        yield started


@pytest.fixture
def session() -> Iterator[Session]:
    """A board without a server, which nobody watches."""
    session = Session("board", [OWN])
    yield session
    session.close()


@pytest.fixture
def page(server: Server, chromium: Browser) -> Iterator[Browser]:
    """A browser that shows a new board in a desktop's size."""
    chromium.keep_tab(chromium.tabs()[0])
    chromium.look(1280, 860)
    server.let_in(chromium)
    # A page of the same origin, without a script that could reopen its board.
    chromium.open(server.address + "theme.css")
    chromium.run("sessionStorage.clear()")
    chromium.open(server.address)
    chromium.wait("document.querySelectorAll('.target').length === 24")
    # The game of another test may be offered to be played on.
    chromium.run("document.getElementById('resume').hidden = true")
    yield chromium
    assert complaints(chromium) == []
