"""Games with a clock on the board's server: whose runs, when it stands, and what its fall ends."""

from __future__ import annotations

from typing import Any

from tests.board.server import Server

PERSON: dict[str, Any] = {"engine": None}
BEGINNER = {"engine": 0, "level": "Beginner"}
ANALYST = {"engine": 0}


def clock(base: float, increment: float = 0.0) -> dict[str, Any]:
    """A clock as the page asks for it, in seconds."""
    return {"kind": "clock", "base": base, "increment": increment}


def test_a_game_opened_under_a_clock_is_played_on_with_it(server: Server) -> None:
    session = server.open()
    players = [PERSON, BEGINNER, ANALYST]
    server.api("new", session=session, players=players, time=clock(60))
    server.api("load", session=session, text="1. d6 *")
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: state["turns"])
        assert state["paused"] and state["clock"] == {"left": [60.0, 60.0], "running": None}
        server.api("pause", session=session, on=False)
        state = stream.until("state", lambda state: len(state["turns"]) == 2)
        assert state["clock"]["running"] == 0 and state["clock"]["left"][1] < 60
    assert server.errors() == ""


def test_a_game_of_two_persons_opened_under_a_clock_can_be_resumed(server: Server) -> None:
    session = server.open()
    server.api("new", session=session, players=[PERSON, PERSON, ANALYST], time=clock(60))
    server.api("load", session=session, text="1. d6 *")
    with server.stream(session) as stream:
        state = stream.until("state", lambda state: state["turns"])
        assert state["paused"] and state["clock"]["running"] is None
        server.api("pause", session=session, on=False)
        stream.until("state", lambda state: state["clock"]["running"] == 1)
