"""Two servers, or other programs, on one folder of games: no played move is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.seat import OWN
from merels.protocol.board.session import Session
from merels.protocol.board.view import state_view
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.games.record import Record
from tests.protocol.board.server import Server
from tests.protocol.board.steps import ANALYST, PERSON

PLAYERS = [PERSON, PERSON, ANALYST]
ELSEWHERE = "open on another board"


@pytest.fixture
def boards(tmp_path: Path) -> Iterator[tuple[Session, Session]]:
    """Two boards as on two servers: each has its own store of one folder."""
    one, other = (Session(name, [OWN], GameStore(tmp_path)) for name in ("one", "other"))
    act(one, "new", {"players": PLAYERS})
    play(one, "d6", "f4")
    yield one, other
    one.close()
    other.close()


def play(board: Session, *moves: str) -> None:
    """Play moves of a game."""
    for move in moves:
        act(board, "play", {"move": move, "at": board.game.at.number})


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
    """Let the time without a page run out on a board."""
    board._watch_until = 0.0
    board.tick()


def test_a_game_is_on_one_board_across_servers(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, other = boards
    game = only_game(other)
    with pytest.raises(InputError, match=ELSEWHERE):
        act(other, "reopen", {"key": game["key"]})
    with pytest.raises(InputError, match=ELSEWHERE):
        act(other, "forget", {"key": game["key"], "changed": game["changed"]})
    play(one, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]
    one.close()
    act(other, "reopen", {"key": game["key"]})
    play(other, "b4")
    assert movetexts(tmp_path) == ["d6 f4 d2 b4"]
    other.close()
    assert [path.suffix for path in tmp_path.iterdir()] == [".pgn"]


def test_an_unwatched_board_releases_its_game(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, other = boards
    fall_asleep(one)
    act(other, "reopen", {"key": only_game(other)["key"]})
    play(other, "d2", "b4")
    # The first board is watched and continues: both games are stored.
    one.subscribe()
    assert state_view(one)["save_error"] == ""
    play(one, "a1")
    play(other, "f2")
    play(one, "g7")
    assert movetexts(tmp_path) == ["d6 f4 d2 b4 f2", "d6 f4 a1 g7"]
    assert "second file" in state_view(one)["save_error"]
    act(one, "new", {})
    play(one, "a1")
    assert state_view(one)["save_error"] == ""


def test_a_board_that_is_watched_again_keeps_its_file(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, other = boards
    fall_asleep(one)
    one.subscribe()
    with pytest.raises(InputError, match=ELSEWHERE):
        act(other, "reopen", {"key": only_game(other)["key"]})
    play(one, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]


@pytest.mark.parametrize("what", ["edited", "removed", "replaced by a link"])
def test_a_file_changed_by_another_program_is_not_overwritten(
    tmp_path: Path, boards: tuple[Session, Session], what: str
) -> None:
    [path] = tmp_path.glob("*.pgn")
    victim = tmp_path / "victim"
    victim.write_text("the user's")
    if what == "edited":
        path.write_text(path.read_text().replace("1. d6 f4", "1. d6 {Well played} f4"))
    elif what == "removed":
        path.unlink()
    else:
        path.unlink()
        path.symlink_to(victim)
    play(boards[0], "d2", "b4")
    new = [one for one in tmp_path.glob("*.pgn") if one != path]
    assert [" ".join(map(str, parse_record(one.read_text()).moves)) for one in new] == [
        "d6 f4 d2 b4"
    ]
    assert victim.read_text() == "the user's"
    assert path.exists() == (what != "removed")
    if what == "edited":
        assert "Well played" in path.read_text()


def test_a_game_that_changed_since_it_was_listed_is_not_deleted(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, other = boards
    before = only_game(other)
    play(one, "d2")
    one.close()
    with pytest.raises(InputError, match="changed meanwhile"):
        act(other, "forget", {"key": before["key"], "changed": before["changed"]})
    assert movetexts(tmp_path) == ["d6 f4 d2"]
    now = only_game(other)
    act(other, "forget", {"key": now["key"], "changed": now["changed"]})
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_game_that_continues_is_stored_again(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, other = boards
    fall_asleep(one)
    game = only_game(other)
    act(other, "forget", {"key": game["key"], "changed": game["changed"]})
    assert movetexts(tmp_path) == []
    one.subscribe()
    play(one, "d2")
    assert movetexts(tmp_path) == ["d6 f4 d2"]


def test_a_game_is_stored_once_its_folder_can_be_written(
    tmp_path: Path, boards: tuple[Session, Session]
) -> None:
    one, _ = boards
    folder, aside = tmp_path / "kept", tmp_path / "aside"
    store = GameStore(folder)
    board = Session("third", [OWN], store)
    act(board, "new", {"players": PLAYERS})
    folder.write_text("no folder")
    play(board, "d6", "f4")
    assert "not saved" in state_view(board)["save_error"] and not state_view(board)["kept"]
    folder.rename(aside)
    board.close()
    assert movetexts(folder) == ["d6 f4"]


def test_two_servers_on_one_folder_lose_no_move(tmp_path: Path) -> None:
    """Use two real processes, and kill the first."""
    with Server(games=tmp_path) as first, Server(games=tmp_path) as second:
        one = first.begin()
        for at, move in enumerate(("d6", "f4", "d2")):
            assert first.api("play", session=one, move=move, at=at) == (200, {})
        opened = second.api("open")[1]
        assert opened["unfinished"] is None, "it is being played on the first"
        [game] = second.api("games", session=opened["session"])[1]["games"]
        what = {"session": opened["session"], "key": game["key"], "changed": game["changed"]}
        for action in ("reopen", "forget"):
            status, answer = second.api(action, **what)
            assert status == 400 and ELSEWHERE in answer["error"]
        os.kill(first.pid, signal.SIGKILL)
        first.stop()
        assert second.api("reopen", **what) == (200, {})
        assert second.api("play", session=opened["session"], move="b4", at=3) == (200, {})
        assert movetexts(tmp_path) == ["d6 f4 d2 b4"]
