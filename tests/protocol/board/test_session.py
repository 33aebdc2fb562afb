"""A board without a server: what it does when nobody watches."""

from __future__ import annotations

from time import monotonic

import pytest

from merels.protocol.board.session import HIDDEN_SECONDS, UNWATCHED_SECONDS, Session
from tests.protocol.board.webdriver import wait


def test_a_review_that_nobody_waits_for_ends(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.load({"text": "1. d6 f4 2. d2 b4 3. f2 b2 4. f6 b6xf6 5. d5 a4 *"})
    session.start_review({})
    monkeypatch.setattr(session, "_watch_until", 0.0)
    session.tick()
    # Half of it would stand there for ever, as one that goes on.
    assert session.review is None


def test_a_review_ends_with_the_next_move_of_an_engine(session: Session) -> None:
    session.load({"text": "1. d6 *"})
    session.start_review({})
    wait(lambda: session.review is not None and session.review["done"] == 1, 10, "a review")
    session.pause({"on": False})
    wait(lambda: session.review is None, 10, "its end")
    assert len(session.game.moves) == 2


def test_a_resigned_game_is_opened_as_it_was_and_can_be_played_on(session: Session) -> None:
    session.new({"players": [{"engine": None}, {"engine": None}, {"engine": 0}]})
    session.play({"move": "d6", "at": 0})
    session.play({"move": "f4", "at": 1})
    session.resign({})
    record = session.export({})["record"]
    assert "1. d6 f4 {Black wins, White resigns} 0-1" in record
    session.load({"text": record})
    state = session.news("state", session.subscribe())
    assert (state["result"], state["reason"]) == ("0-1", "Black wins, White resigns")
    assert session.export({})["record"] == record
    session.play({"move": "d2", "at": 2})
    assert "1. d6 f4 2. d2 *" in session.export({})["record"]


def test_a_page_that_is_left_is_not_waited_for_as_one_in_the_background(session: Session) -> None:
    for body, seconds in (({}, HIDDEN_SECONDS), ({"left": True}, UNWATCHED_SECONDS)):
        session.hidden(body)
        assert seconds - 1 < session.idle_since - monotonic() <= seconds
