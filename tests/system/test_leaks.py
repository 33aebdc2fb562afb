"""Long use frees what it took: memory and descriptors of the two servers stay bounded."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, PERSON
from tests.tournament.processes import Marked, page_address
from tests.tournament.specs import engine_words
from tests.tournament.views.listener import Listener

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

MOST_GROWTH = 8 << 20
"""Bytes that a process may grow while its use is repeated, for caches and fragmentation."""


def memory(pid: int) -> int:
    """Resident memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.fixture(autouse=True)
def one_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give processes one heap: those that glibc makes for threads are only slowly used up."""
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")


def assert_bounded(pid: int, use: Callable[[], None], first: int, more: int) -> None:
    """Use a process ``first`` times, and ``more`` times again: it must not grow any more."""
    for _ in range(first):
        use()
    size, before = memory(pid), descriptors(pid)
    for _ in range(more):
        use()
    wait(lambda: descriptors(pid) <= before, 120, "all descriptors closed")
    assert memory(pid) - size < MOST_GROWTH


def test_five_hundred_games_on_the_board_take_no_more_memory_and_descriptors() -> None:
    with Server() as server:

        def play_a_game() -> None:
            for path in ("/", "/theme.css"):
                assert server.ask("GET", path)[0] == 200
            # At the limit of boards, the server waits until it sees that a page has gone.
            session = wait(lambda: server.api("open")[1].get("session"), 120, "a free board")
            players = [PERSON, PERSON, ANALYST]
            assert server.api("new", session=session, players=players)[0] == 200
            with server.stream(session) as stream:
                for at, move in enumerate(("d6", "f4", "d2")):
                    assert server.api("play", session=session, move=move, at=at)[0] == 200
                stream.next()

        assert_bounded(server.pid, play_a_game, 250, 250)
        assert server.errors() == ""


def test_pages_of_a_tournament_take_no_more_memory_and_descriptors() -> None:
    # The first game never ends: what is left of finished games is not measured.
    engines = [*engine_words("A", command=fake("go#2: drop")), *engine_words("B", command=fake())]
    run = Marked(
        *engines, "-each", "st=3600", "-serve", "0", "-quiet", stdout=subprocess.DEVNULL
    )
    address = page_address(run)

    def open_the_page() -> None:
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert b"<html" in answer.read()
        with Listener(address) as listener:
            assert listener.next()

    assert_bounded(run.process.pid, open_the_page, 250, 250)
