"""Reading of the games folder, which may contain pipes, devices, links and huge files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from merels.protocol.board.game_store import GameStore
from merels.protocol.formats.pgn.tokens import LONGEST_GAME

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
