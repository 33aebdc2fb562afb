"""Games that the board stores."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.formats.pgn.reader import parse_record
from tests.kit.waiting import wait
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, PERSON, clock

ANNA, BEN = {"engine": None, "name": "Anna"}, {"engine": None, "name": "Ben"}


def stored_game(folder: Path) -> str:
    """Return the text of the only game in a folder."""
    [path] = folder.glob("*.pgn")
    return path.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_game_survives_a_kill_of_the_server_and_is_resumed(tmp_path: Path) -> None:
    with Server(games=tmp_path) as server:
        players = [ANNA, {"engine": 0, "level": "Beginner"}, ANALYST]
        session = server.open()
        server.api("new", session=session, players=players, time=clock(600, 5))
        with server.stream(session) as stream:
            server.api("play", session=session, move="d6", at=0)
            state = stream.until("state", lambda state: state["plies"] == 2)
        os.kill(server.pid, signal.SIGKILL)
    record = parse_record(stored_game(tmp_path))
    assert len(record.moves) == 2 and record.tags["White"] == "Anna"
    with Server(games=tmp_path) as server:
        opened = server.api("open")[1]
        offered = opened["unfinished"]
        assert (offered["white"], offered["black"]) == ("Anna", "merels (Beginner)")
        session = opened["session"]
        assert server.api("reopen", session=session, key=offered["key"]) == (200, {})
        with server.stream(session) as stream:
            state = stream.until("state", lambda state: True)
            assert [player["name"] for player in state["players"][:2]] == [
                "Anna", "merels (Beginner)"
            ]
            assert state["playing"] and state["turn"] == 0
            assert 590 < state["clock"]["left"][0] < 606 and state["clock"]["running"] == 0
            move = state["legal"][0]
            server.api("play", session=session, move=move, at=state["node"])
            stream.until("state", lambda state: state["plies"] == 4)
    # The folder still has one game.
    assert len(parse_record(stored_game(tmp_path)).moves) == 4


@pytest.fixture
def storing_board(tmp_path: Path) -> Iterator[Session]:
    """A board that stores its games."""
    session = Session("board", [OWN_ENGINE], GameStore(tmp_path))
    yield session
    session.close()


def test_variations_comments_and_results_are_stored(tmp_path: Path, storing_board: Session) -> None:
    act(storing_board, "new", {"players": [ANNA, BEN, ANALYST]})
    assert list(tmp_path.iterdir()) == []
    act(storing_board, "play", {"move": "d6", "at": 0})
    act(storing_board, "play", {"move": "f4", "at": 1})
    act(storing_board, "undo", {})
    act(storing_board, "play", {"move": "d2", "at": 1})
    act(storing_board, "comment", {"node": 1, "text": "The best field"})
    assert "1. d6 {The best field} d2 ( 1... f4 ) *" in stored_game(tmp_path)
    act(storing_board, "resign", {})
    text = stored_game(tmp_path)
    assert '[Result "0-1"]' in text and '[White "Anna"]' in text and '[Black "Ben"]' in text
    [entry] = GameStore(tmp_path).entries("anna best")
    assert not entry.unfinished and GameStore(tmp_path).entries("anna worst") == []


def test_a_record_that_is_only_viewed_is_not_stored(tmp_path: Path, storing_board: Session) -> None:
    act(storing_board, "load", {"text": '[White "X"]\n\n1. d6 f4 *'})
    act(storing_board, "go", {"node": 1})
    assert list(tmp_path.iterdir()) == []
    act(storing_board, "play", {"move": "d2", "at": 1})
    assert "1. d6 f4 ( 1... d2 ) *" in stored_game(tmp_path)
    # A game that continues from there is another game, with its own players.
    act(storing_board, "players", {"players": [ANNA, BEN, ANALYST]})
    act(storing_board, "play_on", {})
    act(storing_board, "play", {"move": "b4", "at": 3})
    texts = [path.read_text() for path in tmp_path.glob("*.pgn")]
    assert len(texts) == 2 and sum('[White "Anna"]' in text for text in texts) == 1


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    session = Session("board", [OWN_ENGINE], GameStore(tmp_path / "file"))
    act(session, "new", {"players": [PERSON, PERSON, ANALYST]})
    act(session, "play", {"move": "d6", "at": 0})
    assert session.saver.save_error.startswith("This game is not saved: cannot write to")
    session.close()


def test_an_engine_accepts_a_draw_when_it_is_not_better(session: Session) -> None:
    players = [PERSON, {"engine": 0, "level": "full"}, ANALYST]
    worse = "OO*OO***/OO*OO***/@***@*@* w 0 0 0 9"
    act(session, "new", {"players": players, "position": worse,
                         "time": {"kind": "move", "seconds": 0.1}})
    move = next(move for move in session.game.shown.legal_moves() if not move.removed)
    act(session, "play", {"move": str(move), "at": 0})
    wait(lambda: session.game.live.ply == 2, 60, "a reply")
    assert act(session, "draw", {"how": "offer"}) == {"accepted": True}
    assert session.game.result() == ("1/2-1/2", "Draw by agreement")


def test_a_game_that_is_open_elsewhere_is_named_by_its_players(
    tmp_path: Path, storing_board: Session
) -> None:
    act(storing_board, "new", {"players": [ANNA, BEN, ANALYST]})
    act(storing_board, "play", {"move": "d6", "at": 0})
    storing_board.subscribe()
    other = Session("other", [OWN_ENGINE], storing_board.saver.store)
    [game] = act(other, "games", {})["games"]
    assert game["elsewhere"] and not game["here"]
    with pytest.raises(ValueError, match="^'Anna – Ben': this game is open in another tab"):
        act(other, "reopen", {"key": game["key"]})
    [game] = act(storing_board, "games", {})["games"]
    assert game["here"] and not game["elsewhere"]
    other.close()
