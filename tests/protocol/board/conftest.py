"""Fixtures of the board's tests."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from tests.kit.fakes import fake
from tests.protocol.board.server import Server

# Python code of the fake engine; `write` and `count` are names of its script.
FLOOD = """
for number, (pv, score) in enumerate((("d6 f4", 7), ("b4 d2", 3), ("f4 d6", -4)), 1):
    write(
        f"info depth {count // 60 + 1} multipv {number} score cp {score + count % 50} "
        f"nodes {count * 1000} nps 60000 pv {pv}\\n"
    )
time.sleep(1 / 60)
count += 1
"""
# The language of these scripts is described in tests/kit/fake_engine.py. The default of Style
# differs in case from its values on purpose.
BUSY = (
    "uci: answer id name Busy\\noption name MultiPV type spin default 1 min 1 max 9\\n"
    "option name Style type combo default Solid var Risky var solid\\nuciok; "
    f"go: hold & do count = 1 & thread & do while held:{FLOOD.rstrip()}".replace("\n", "\n    ")
)
"""Script of an engine that prints three variations sixty times a second until ``stop``."""
SILENT = "go: print info depth 1 score cp 5 pv d6 & drop"
"""Script of an engine that prints a score and never moves."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server with merels as engine 0 and three fake engines, shared by the tests of a file.

    Engine 1 moves at once, engine 2 floods its output, and engine 3 never ends a search.
    """
    sound = ("-engine", f"cmd={shlex.join(fake())}", "name=Fake")
    busy = ("-engine", f"cmd={shlex.join(fake(BUSY))}", "name=Busy")
    mute = ("-engine", f"cmd={shlex.join(fake(SILENT))}", "name=Mute")
    with Server(*sound, *busy, *mute) as started:
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
