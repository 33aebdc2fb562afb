"""Games with a clock: which side's time runs, when the clock stops, and the end on time."""

from __future__ import annotations

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.session import Session
from merels.protocol.board.view import event_data
from merels.protocol.client.engine_spec import EngineSpec
from tests.kit.fakes import fake
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, BEGINNER, PERSON, clock


def test_an_opened_game_is_continued_with_the_clock(server: Server) -> None:
    session = server.begin(black=BEGINNER, time=clock(60))
    server.api("load", session=session, text="1. d6 *")
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: state["plies"])
        assert state["analysing"] and state["clock"] is None
        server.api("play_on", session=session)
        state = stream.until("state", lambda state: state["plies"] == 2)
        assert state["clock"]["running"] == 0 and state["clock"]["left"][1] < 60
    assert server.errors() == ""


def test_an_opened_game_of_two_users_is_continued_with_the_clock(server: Server) -> None:
    session = server.begin(time=clock(60))
    server.api("load", session=session, text="1. d6 *")
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: state["plies"])
        assert state["analysing"] and state["clock"] is None
        server.api("play_on", session=session)
        stream.until("state", lambda state: state["clock"] and state["clock"]["running"] == 1)


def test_the_clock_stops_while_the_board_sleeps(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session("board", [EngineSpec(fake("never"), "Never moves")])
    try:
        players = [PERSON, {"engine": 0, "level": "full"}, {"engine": 0}]
        act(session, "new", {"players": players, "time": clock(60)})
        act(session, "play", {"move": "d6", "at": 0})
        session.tick()
        assert session.game.clock is not None and session.game.clock.running == 1
        monkeypatch.setattr(session, "_awake_until", 0.0)
        session.tick()
        assert session.game.clock.running is None
        session.subscribe()
        assert session.game.clock.running == 1
    finally:
        session.close()


def test_a_move_after_the_flag_ends_the_game_for_every_page(
    session: Session, clock_time: list[float]
) -> None:
    act(session, "new", {"players": [PERSON, PERSON, ANALYST], "time": clock(1)})
    act(session, "play", {"move": "d6", "at": 0})
    feed = session.subscribe()
    feed.take(0.0)
    clock_time[0] += 1.1
    with pytest.raises(InputError, match="the clock has run out"):
        act(session, "play", {"move": "f4", "at": 1})
    assert "state" in (feed.take(0.0) or ())
    assert event_data(session, "state")["reason"] == "White wins, Black is out of time"
