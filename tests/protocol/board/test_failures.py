"""Unexpected errors: one line on the page, the traceback in the log, and a usable board."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from merels.protocol.board import server as board_server
from merels.protocol.board import session as board_session
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.reviewing import Reviewer
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.sessions import Sessions
from merels.protocol.board.view import event_data
from merels.protocol.puzzles.training import Attempt, Trainer
from tests.kit.waiting import wait
from tests.protocol.board.server import Server, serving_here
from tests.protocol.board.steps import ANALYST, PERSON
from tests.protocol.board.test_game_store import PUZZLE

README = Path(__file__).parents[3] / "README.md"
GAME = "1. d6 f4 2. d2 b4 *"


class Surprise(Exception):
    """An error that no code handles by name."""


def fail(*_: object, **__: object) -> Any:
    """Raise a `Surprise`."""
    raise Surprise("out of the blue\nagain")


def shown_failure(session: Session) -> str:
    """Return the last unexpected error as the page receives it; empty if there was none."""
    return str(event_data(session, "failure") or "")


def has_traceback(caplog: pytest.LogCaptureFixture) -> bool:
    """Return whether the log has the traceback of a `Surprise`."""
    return any(record.exc_info and record.exc_info[0] is Surprise for record in caplog.records)


def test_a_games_folder_that_is_a_file_leaves_the_board_usable(tmp_path: Path) -> None:
    with Server(games=README, puzzles=tmp_path) as server:
        status, opened = server.api("open")
        assert status == 200
        warning = f"ames are not saved: '{README}': cannot be read as a folder (Not a directory)"
        assert opened["warning"] == f"G{warning}."
        assert server.errors().count(warning) == 1 and "Traceback" not in server.errors()
        session = opened["session"]
        assert server.api("new", session=session, players=[PERSON, PERSON, ANALYST])[0] == 200
        assert server.api("play", session=session, move="d6", at=0)[0] == 200
        assert "MERELS_GAMES" in server.api("games", session=session)[1]["error"]


def test_a_board_opens_although_the_games_folder_has_become_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.mkdir()
    with Server(games=folder) as server:
        session = server.open()
        shutil.rmtree(folder)
        folder.write_text("not a folder")
        status, answer = server.api("games", session=session)
        assert status == 500 and "NotADirectoryError" in answer["error"]
        assert "\n" not in answer["error"]
        status, opened = server.api("open")
        assert status == 200 and "NotADirectoryError" in opened["warning"]
        assert server.errors().count("Traceback (most recent call last)") == 2


def test_a_rating_that_cannot_be_written_or_read_is_reported(tmp_path: Path) -> None:
    trainer = Trainer(README, [PUZZLE])
    session = Session("board", [OWN_ENGINE], None, trainer)
    try:
        act(session, "puzzle", {})
        player = act(session, "solution", {})["player"]
        assert player["tried"] == 1 and "is not saved" in player["save_error"]
    finally:
        session.close()
    file = tmp_path / "player.json"
    file.write_text("from a later version")
    trainer = Trainer(tmp_path)
    attempt = Attempt(PUZZLE)
    attempt.points = 0.0
    trainer.count(attempt)
    # An unreadable rating is not overwritten: a later version may be able to read it.
    assert file.read_text() == "from a later version"
    assert str(file) in trainer.save_error


def test_an_error_in_the_tick_of_a_board_does_not_stop_other_boards(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions([OWN_ENGINE], None, None)
    try:
        broken, sound = sessions.open(), sessions.open()
        broken.subscribe()
        monkeypatch.setattr(broken.game, "flag", fail)
        ticked: list[bool] = []
        monkeypatch.setattr(sound.game, "flag", lambda: bool(ticked.append(True)))
        wait(lambda: shown_failure(broken), 60, "a line for the page")
        ticked.clear()
        wait(lambda: len(ticked) > 2, 60, "more ticks")
        assert "Surprise: out of the blue" in shown_failure(broken)
        assert has_traceback(caplog)
        # The error occurs ten times a second and is logged once.
        assert len(caplog.records) == 1
    finally:
        sessions.close()


def test_an_error_in_the_review_is_shown_and_ends_the_review(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Reviewer, "judge", fail)
    session.subscribe()
    act(session, "load", {"text": GAME})
    act(session, "review", {})
    wait(lambda: shown_failure(session), 60, "a line for the page")
    assert "Surprise: out of the blue" in shown_failure(session) and has_traceback(caplog)
    assert session.reviewer.progress is None


def test_an_error_between_searches_does_not_end_the_search_thread(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session.subscribe()
    with monkeypatch.context() as broken:
        broken.setattr(board_session, "Job", fail)
        act(session, "analyse", {"on": True})
        wait(lambda: shown_failure(session), 60, "a line for the page")
        assert has_traceback(caplog)
    act(session, "restart", {})
    wait(lambda: session.infos, 60, "a variation")


def test_an_error_of_a_search_is_logged_with_its_traceback(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(session.seats[2], "prepare", fail)
    act(session, "analyse", {"on": True})
    wait(lambda: session.engine_error, 60, "an error")
    assert session.engine_error.startswith("Analysis: ")
    assert "Surprise: out of the blue" in session.engine_error
    assert has_traceback(caplog)


def test_an_error_in_the_event_stream_is_shown_and_does_not_end_the_stream(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)

    def view(session: Session, kind: str) -> Any:
        return fail() if kind == "review" else event_data(session, kind)

    monkeypatch.setattr(board_server, "event_data", view)
    with serving_here() as server:
        board = server.open()
        with server.stream(board) as stream:
            assert "Surprise: out of the blue" in stream.until("failure", bool)
            server.api("evaluation", session=board, lines=5)
            stream.until("state", lambda state: state["lines"] == 5)
    assert has_traceback(caplog)


def test_an_error_in_a_request_is_answered_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(board_server, "act", fail)
    with serving_here() as server:
        status, answer = server.api("undo", session=server.open())
    assert status == 500 and "Surprise: out of the blue" in answer["error"]
    assert "\n" not in answer["error"]
    assert has_traceback(caplog)
