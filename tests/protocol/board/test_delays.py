"""Pauses before the moves of levels."""

from __future__ import annotations


import pytest

from merels.protocol.board import search_thread
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.session import Session
from tests.kit.waiting import wait
from tests.protocol.board.steps import ANALYST, BEGINNER, PERSON, clock, trace


def test_a_level_pauses_before_its_move_unless_time_is_short(session: Session) -> None:
    players = [PERSON, BEGINNER, ANALYST]
    act(session, "new", {"players": players, "time": {"kind": "move", "seconds": 3}})
    act(session, "play", {"move": "d6", "at": 0})
    job = session.next_job()
    assert job is not None
    # The reply must be late enough for a user to notice the pause.
    assert job.pause() > search_thread.PAUSE_SECONDS / 2
    wait(lambda: session.game.live.ply == 2, 60, "a reply")
    act(session, "new", {"players": players, "time": clock(10)})
    act(session, "play", {"move": "d6", "at": 0})
    job = session.next_job()
    assert job is not None and job.pause() <= 0.2


def test_a_pause_drops_the_reply_that_was_delayed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_thread, "PAUSE_SECONDS", 60.0)
    time = {"kind": "move", "seconds": 60}
    lines = trace(session)
    act(session, "new", {"players": [PERSON, BEGINNER, ANALYST], "time": time})
    act(session, "play", {"move": "d6", "at": 0})

    def replies() -> int:
        return sum(line.startswith("<bestmove") for line in lines)

    wait(replies, 60, "a reply, which is delayed")
    act(session, "pause", {"on": True})
    monkeypatch.setattr(search_thread, "PAUSE_SECONDS", 0.0)
    act(session, "pause", {"on": False})
    wait(lambda: session.game.live.ply == 2, 60, "another reply")
    assert replies() == 2
