"""Two boards, two servers or other programs on one folder: no played move is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.view import state_view
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.games.record import Record
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, PERSON
from tests.protocol.board.test_taking_back import play

PLAYERS = [PERSON, PERSON, ANALYST]
ELSEWHERE = "open in another tab"


@pytest.fixture
def boards(tmp_path: Path) -> Iterator[tuple[Session, Session]]:
    """Two boards of one server; the first has a game and is watched."""
    store = GameStore(tmp_path)
    first, second = (Session(name, [OWN_ENGINE], store) for name in ("first", "second"))
    first.subscribe()
    act(first, "new", {"players": PLAYERS})
    play(first, "d6", "f4")
    yield first, second
    first.close()
    second.close()


def stored_records(folder: Path) -> list[Record]:
    """Return the games in a folder, oldest first."""
    return [parse_record(path.read_text()) for path in sorted(folder.glob("*.pgn"))]


def movetexts(folder: Path) -> list[str]:
    """Return the moves of the games in a folder, oldest first."""
    return [" ".join(map(str, record.moves)) for record in stored_records(folder)]


def only_game(board: Session) -> dict[str, str]:
    """Return the entry of the only stored game."""
    [game] = act(board, "games", {})["games"]
    assert isinstance(game, dict)
    return game


def fall_asleep(board: Session) -> None:
    """Close the pages of a board, and let it fall asleep."""
    for feed in list(board._feeds):
        board.unsubscribe(feed)
    board._awake_until = 0.0
    board.tick()


def test_a_game_is_open_on_one_board_only(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    first, second = boards
    game = only_game(second)
    with pytest.raises(InputError, match=ELSEWHERE):
        act(second, "reopen", {"key": game["key"]})
    with pytest.raises(InputError, match=ELSEWHERE):
        act(second, "forget", {"key": game["key"], "changed": game["changed"]})
    play(first, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]
    first.close()
    act(second, "reopen", {"key": game["key"]})
    play(second, "b4")
    assert movetexts(tmp_path) == ["d6 f4 d2 b4"]
    second.close()
    assert [path.suffix for path in tmp_path.iterdir()] == [".pgn"]


def test_an_unwatched_board_releases_its_game(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    first, second = boards
    fall_asleep(first)
    act(second, "reopen", {"key": only_game(second)["key"]})
    play(second, "d2", "b4")
    # The first board is watched and continues: both games are stored.
    first.subscribe()
    assert state_view(first)["save_error"] == ""
    play(first, "a1")
    play(second, "f2")
    play(first, "g7")
    assert movetexts(tmp_path) == ["d6 f4 d2 b4 f2", "d6 f4 a1 g7"]
    assert "second file" in state_view(first)["save_error"]
    act(first, "new", {})
    play(first, "a1")
    assert state_view(first)["save_error"] == ""


def test_a_board_that_is_watched_again_keeps_its_file(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    first, second = boards
    fall_asleep(first)
    first.subscribe()
    with pytest.raises(InputError, match=ELSEWHERE):
        act(second, "reopen", {"key": only_game(second)["key"]})
    play(first, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]


@pytest.mark.parametrize("change", ["edited", "removed", "replaced by a link"])
def test_a_file_changed_by_another_program_is_not_overwritten(
    tmp_path: Path, boards: tuple[Session, Session], change: str
) -> None:
    [path] = tmp_path.glob("*.pgn")
    victim = tmp_path / "victim"
    victim.write_text("the user's")
    if change == "edited":
        path.write_text(path.read_text().replace("1. d6 f4", "1. d6 {Well played} f4"))
    elif change == "removed":
        path.unlink()
    else:
        path.unlink()
        path.symlink_to(victim)
    play(boards[0], "d2", "b4")
    [new] = [file for file in tmp_path.glob("*.pgn") if file != path]
    assert " ".join(map(str, parse_record(new.read_text()).moves)) == "d6 f4 d2 b4"
    assert victim.read_text() == "the user's"
    assert path.exists() == (change != "removed")
    if change == "edited":
        assert "Well played" in path.read_text()


def test_a_game_that_changed_since_it_was_listed_is_not_deleted(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    first, second = boards
    listed = only_game(second)
    play(first, "d2")
    first.close()
    with pytest.raises(InputError, match="changed meanwhile"):
        act(second, "forget", {"key": listed["key"], "changed": listed["changed"]})
    assert movetexts(tmp_path) == ["d6 f4 d2"]
    current = only_game(second)
    act(second, "forget", {"key": current["key"], "changed": current["changed"]})
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_game_that_continues_is_stored_again(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    first, second = boards
    fall_asleep(first)
    game = only_game(second)
    act(second, "forget", {"key": game["key"], "changed": game["changed"]})
    assert movetexts(tmp_path) == []
    first.subscribe()
    play(first, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]


def test_a_game_is_stored_once_its_folder_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    board = Session("board", [OWN_ENGINE], GameStore(folder))
    act(board, "new", {"players": PLAYERS})
    folder.write_text("no folder")
    play(board, "d6", "f4")
    assert "not saved" in state_view(board)["save_error"] and not state_view(board)["saved"]
    folder.unlink()
    board.close()
    assert movetexts(folder) == ["d6 f4"]


def test_two_servers_on_one_folder_lose_no_move(tmp_path: Path) -> None:
    """Use real processes, and kill the first."""
    with Server(games=tmp_path) as first, Server(games=tmp_path) as second:
        opened = second.api("open")[1]
        notice = f"Another merels board, process {first.pid}, keeps its games in {tmp_path}."
        assert notice in opened["warning"] and notice in second.errors()
        for server, moves in ((first, ("d6", "f4", "d2")), (second, ("a1",))):
            session = server.begin()
            for at, move in enumerate(moves):
                assert server.api("play", session=session, move=move, at=at) == (200, {})
        assert second.api("games", session=opened["session"])[1]["found"] == 1
        assert movetexts(tmp_path) == ["d6 f4 d2"] and movetexts(tmp_path / "board-2") == ["a1"]
        os.kill(first.pid, signal.SIGKILL)
        first.stop()
        with Server(games=tmp_path) as third:
            opened = third.api("open")[1]
            assert opened["warning"] == "" and opened["unfinished"]["plies"] == "3"
    assert not list(tmp_path.rglob("*.lock"))
