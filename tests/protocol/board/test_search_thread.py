"""The search thread: it drops the result of a stopped search, and stops no other search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Condition, Event, Thread, current_thread
from typing import Any
from unittest.mock import Mock

import pytest

from merels.engine.game.position import Position
from merels.engine.search.limits import Info
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.search_thread import Board, Job, SearchThread
from merels.protocol.client.any_engine import AnyEngine, PlayResult, Stop
from merels.protocol.client.engine_spec import EngineSpec
from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.protocol.board.steps import ANALYST, PERSON, clock, trace


TRACES: dict[Session, list[str]] = {}
"""The lines to and from Black's engine, by board."""


@contextmanager
def thinking(script: str, **time: Any) -> Iterator[Session]:
    """Yield a board on which Black's engine, the fake engine in a ``mode``, is searching."""
    session = Session("board", [OWN_ENGINE, EngineSpec(fake(script), "Fake")])
    TRACES[session] = trace(session)
    try:
        act(session, "new", {"players": [PERSON, {"engine": 1}, ANALYST], **time})
        act(session, "play", {"move": "d6", "at": 0})
        wait(lambda: sent(session, "go "), 60, "a search")
        yield session
    finally:
        session.close()
        del TRACES[session]


@pytest.fixture
def slow_to_stop() -> Iterator[Session]:
    """A board whose engine searches until `stop`, and answers half a second later."""
    with thinking("stops-only 0.5") as session:
        yield session


def sent(session: Session, *starts: str) -> list[str]:
    """Return the lines sent to Black's engine that begin with one of ``starts``."""
    sent_lines = [line[1:] for line in TRACES[session] if line[0] == ">"]
    return [text for text in sent_lines if text.startswith(starts)]


def test_the_move_of_a_paused_search_is_dropped(slow_to_stop: Session) -> None:
    act(slow_to_stop, "pause", {"on": True})
    act(slow_to_stop, "pause", {"on": False})
    wait(lambda: len(sent(slow_to_stop, "go ")) == 2, 60, "another search")
    assert slow_to_stop.game.live.ply == 1


def test_an_unwanted_search_is_stopped_once(slow_to_stop: Session) -> None:
    """The board checks the search several times until it ends."""
    act(slow_to_stop, "pause", {"on": True})
    for _ in range(5):
        slow_to_stop.tick()
    act(slow_to_stop, "pause", {"on": False})
    wait(lambda: len(sent(slow_to_stop, "go ")) == 2, 60, "another search")
    assert sent(slow_to_stop, "stop") == ["stop"]


def test_the_move_of_a_search_before_an_undo_is_dropped(slow_to_stop: Session) -> None:
    act(slow_to_stop, "undo", {})
    act(slow_to_stop, "play", {"move": "d6", "at": 0})
    wait(lambda: len(sent(slow_to_stop, "go ")) == 2, 60, "another search")
    assert slow_to_stop.game.live.ply == 1


def test_a_slow_start_is_deducted_from_the_time_of_the_search() -> None:
    with thinking("slow-start 1", time=clock(60)) as session:
        words = sent(session, "go ")[0].split()
        assert int(words[words.index("btime") + 1]) <= 59_000


@pytest.mark.thorough
def test_an_engine_that_moves_after_its_flag_fell_has_lost() -> None:
    with thinking("slow-start 1.2", time=clock(1)) as session:
        wait(lambda: session.game.over or session.game.live.ply > 1, 60, "an end")
        assert session.game.result() == ("1-0", "White wins, Black is out of time")


def test_every_new_game_sends_ucinewgame() -> None:
    with thinking("sound") as session:
        wait(lambda: session.game.live.ply == 2, 60, "an answer")
        act(session, "new", {})
        act(session, "play", {"move": "d6", "at": 0})
        wait(lambda: session.game.live.ply == 2, 60, "an answer")
        act(session, "load", {"text": "1. d6 *"})
        act(session, "play_on", {})
        wait(lambda: session.game.live.ply == 2, 60, "an answer")
        assert sent(session, "ucinewgame", "go ") == 3 * ["ucinewgame", "go movetime 1000"]


class FakeSeat(AnyEngine):
    """A seat that is its own engine: the first search ends on ``release``, others on a stop."""

    part = "White"
    is_level = False

    def __init__(self) -> None:
        self.count = 0
        self.release = Event()
        self.stopped = Event()

    def open(self) -> FakeSeat:
        """Return the running engine."""
        return self

    def prepare(self, *_: object) -> None:
        """Send nothing."""

    def play(self, *_: Any, stop: Stop | None = None, **__: Any) -> PlayResult:
        """Search until the event that ends the search."""
        self.count += 1
        assert stop is not None
        if self.count > 1:
            stop.attach(self.stopped.set)
        (self.release if self.count == 1 else self.stopped).wait(60)
        return PlayResult(Position().legal_moves()[0], None, Info())


def waits_for_a_lock(search_thread: SearchThread) -> bool:
    """Return whether the thread is inside of a ``with`` statement's call for a condition."""
    frame = sys._current_frames().get(search_thread._thread.ident or 0)
    return frame is not None and frame.f_code is Condition.__enter__.__code__


def test_a_late_stop_does_not_reach_the_next_search() -> None:
    seat: Any = FakeSeat()
    current = [Job(seat, 1, Position(), (), Position(), 1.0)]

    def next_job() -> Job:
        if current_thread().name == "late":
            # End the first search between the check that it is unwanted and its stop: the search
            # thread waits for the lock of this call, or else begins the next search.
            seat.release.set()
            wait(lambda: waits_for_a_lock(search_thread) or seat.count == 2, 60, "its end")
        return current[0]

    board = Mock(spec=Board, next_job=next_job)
    search_thread = SearchThread(board)
    search_thread.start()
    wait(lambda: seat.count == 1, 60, "a search")
    current[0] = replace(current[0], version=2)
    late = Thread(target=search_thread.changed, name="late")
    late.start()
    late.join()
    wait(lambda: seat.count == 2, 60, "another search")
    assert not seat.stopped.is_set()
    seat.stopped.set()
    search_thread.close()
