"""Reading of the games folder, which may contain pipes, devices, links and huge files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from merels.protocol.board.game_store import GameStore
from merels.protocol.board.kept_cookie import kept_secret
from merels.protocol.formats.pgn.tokens import LONGEST_GAME
from merels.protocol.puzzles.training import Trainer

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs named pipes and devices")


def test_pipes_devices_folders_and_huge_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text('[White "Anna"]\n\n1. d6 f4 {well} *\n')
    os.mkfifo(tmp_path / "pipe.pgn")
    (tmp_path / "folder.pgn").mkdir()
    (tmp_path / "zero.pgn").symlink_to("/dev/zero")
    (tmp_path / "dangling.pgn").symlink_to(tmp_path / "missing")
    (tmp_path / "stdin.pgn").symlink_to("/dev/stdin")
    with open(tmp_path / "huge.pgn", "wb") as file:
        file.truncate(LONGEST_GAME + 1)
    program = (
        "import sys; from pathlib import Path; "
        "from merels.protocol.board.game_store import GameStore; "
        "print(*(entry.key for entry in GameStore(Path(sys.argv[1])).entries())); "
        "print(GameStore(Path(sys.argv[1])).text('well'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, timeout=60,
        capture_output=True, text=True, check=True,
    )
    assert done.stdout.startswith("game\n") and "1. d6 f4" in done.stdout


def test_a_file_replaced_by_a_pipe_is_an_error_and_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text("1. d6 *\n")
    store = GameStore(tmp_path)
    assert [entry.key for entry in store.entries()] == ["game"]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError, match="no such game"):
        store.read("game")


def test_a_symbolic_link_in_the_games_folder_is_not_a_stored_game(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.pgn", tmp_path / "games"
    secret.write_text("1. d6 {secret} *\n")
    folder.mkdir()
    (folder / "game.pgn").write_text("1. d6 f4 *\n")
    (folder / "link.pgn").symlink_to(secret)
    store = GameStore(folder)
    assert [entry.key for entry in store.entries()] == ["game"]
    assert "f4" in store.text() and "secret" not in store.text()
    with pytest.raises(ValueError, match="no such game"):
        store.claim("link", bool)


def test_a_listed_game_replaced_by_a_link_is_left_out_of_all_games(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.pgn", tmp_path / "games"
    secret.write_text("1. d6 {secret} *\n")
    folder.mkdir()
    for name in ("game", "other"):
        (folder / f"{name}.pgn").write_text("1. d6 f4 *\n")
    store, path = GameStore(folder), folder / "game.pgn"
    [changed] = {entry.changed for entry in store.entries() if entry.key == "game"}
    path.unlink()
    path.symlink_to(secret)
    os.utime(path, ns=(changed, changed), follow_symlinks=False)
    assert store.text().count("f4") == 1 and "secret" not in store.text()
    with pytest.raises(ValueError, match="cannot be read"):
        store.read("game")


@pytest.mark.parametrize("kind", ["link", "loose", "pipe"])
def test_a_cookie_that_another_user_may_know_is_replaced(kind: str, tmp_path: Path) -> None:
    known, folder = tmp_path / "known", tmp_path / "games"
    known.write_text("x" * 32)
    known.chmod(0o600)
    folder.mkdir()
    path = folder / "cookie-8000"
    if kind == "link":
        path.symlink_to(known)
    elif kind == "loose":
        path.write_text("x" * 32)
        path.chmod(0o644)
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    secret = kept_secret(folder, 8000)
    assert secret != "x" * 32 and kept_secret(folder, 8000) == secret
    assert path.lstat().st_mode & 0o777 == 0o600 and not path.is_symlink()
    assert known.read_text() == "x" * 32


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_cookie_that_another_user_owns_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cookie-8000"
    path.write_text("x" * 32)
    path.chmod(0o600)
    os.chown(path, 1, 1)
    assert kept_secret(tmp_path, 8000) != "x" * 32


@pytest.mark.parametrize("kind", ["link", "huge"])
def test_a_puzzle_rating_is_read_from_a_small_regular_file_only(kind: str, tmp_path: Path) -> None:
    path, other = tmp_path / "player.json", tmp_path / "other"
    row = '{"rating": 2000, "tried": 1, "solved": 1, "streak": 1, "best": 1}'
    (path if kind == "huge" else other).write_text(row + " " * (1 << 20 if kind == "huge" else 0))
    if kind == "link":
        path.symlink_to(other)
    trainer = Trainer(tmp_path)
    assert trainer.player.rating == 1100 and "cannot be read" in trainer.save_error
