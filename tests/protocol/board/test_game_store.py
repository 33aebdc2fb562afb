"""The folder of stored games, which other processes and programs may use at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.common.saving import DRAFT
from merels.engine.game.position import Position
from merels.protocol.board.game_store import MAX_WORDS, GameStore
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.training import Attempt, Trainer
from tests.kit import full_disk

posix = pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")

START = Position()
PUZZLE = Puzzle(START, 1, (START.legal_moves()[0],), (), 1, 24, 1)


def fail_puzzle(trainer: Trainer) -> None:
    """Record a failed puzzle."""
    attempt = Attempt(PUZZLE)
    attempt.points = 0.0
    trainer.count(attempt)


@posix
def test_a_symbolic_link_at_a_draft_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "games"
    victim.write_text("the user's")
    folder.mkdir()
    store, trainer = GameStore(folder), Trainer(folder)
    # Make the names of the game and of the drafts predictable.
    monkeypatch.setattr(store, "new_key", lambda: "key")
    monkeypatch.setattr(os, "urandom", bytes)
    for name in ("key.pgn", "player.json"):
        (folder / f"{name}.00000000{DRAFT}").symlink_to(victim)
    with pytest.raises(FileExistsError):
        store.add(parse_record("1. d6 *"))
    fail_puzzle(trainer)
    assert "File exists" in trainer.save_error and victim.read_text() == "the user's"


def test_two_trainers_share_a_puzzle_rating(tmp_path: Path) -> None:
    first, second = Trainer(tmp_path), Trainer(tmp_path)
    for trainer in (first, second, second, first):
        fail_puzzle(trainer)
    assert Trainer(tmp_path).player.tried == first.player.tried == 4


OWNING_SCRIPT = """
import os, sys
from pathlib import Path
from merels.protocol.board.game_store import GameStore
folder, owned = Path(sys.argv[1]), 0
while owned < 300:
    store = GameStore(folder)
    store.own()
    if store.folder == folder:
        os.close(os.open(folder / "mark", os.O_CREAT | os.O_EXCL))
        os.unlink(folder / "mark")
        owned += 1
    store.disown()
"""


def test_a_folder_is_owned_by_one_process_at_a_time(tmp_path: Path) -> None:
    """The lock file may be removed while another process is about to lock it."""
    words = [sys.executable, "-c", OWNING_SCRIPT, str(tmp_path)]
    processes = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 3
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


FULL_DISK_SCRIPT = """
from pathlib import Path
from merels.protocol.board.actions.dispatch import act
from merels.protocol.board.game_store import GameStore
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
board = Session("board", [OWN_ENGINE], GameStore(Path(sys.argv[1])))
act(board, "new", {"players": [{"engine": None}, {"engine": None}, {"engine": 0}]})
act(board, "play", {"move": "d6", "at": 0})
limit_files(100)
act(board, "play", {"move": "f4", "at": 1})
print(board.saver.save_error)
print(*sorted(path.suffix for path in Path(sys.argv[1]).iterdir()))
print([path.read_text().split()[-3:] for path in Path(sys.argv[1]).glob("*.pgn")])
limit_files()
board.close()
"""


def test_a_full_disk_does_not_damage_a_stored_game(tmp_path: Path) -> None:
    done = full_disk.run_script(FULL_DISK_SCRIPT, tmp_path)
    assert done.returncode == 0, done.stderr
    save_error, files, moves = done.stdout.splitlines()
    assert save_error.startswith("This game is not saved:") and "File too large" in save_error
    assert (files, moves) == (".pgn", "[['1.', 'd6', '*']]")
    # Closing the board with enough space has saved the whole game.
    [path] = tmp_path.iterdir()
    assert "1. d6 f4 *" in path.read_text()


def test_removed_games_are_not_cached(tmp_path: Path) -> None:
    store = GameStore(tmp_path)
    sizes = []
    for _ in range(3):
        store.add(parse_record("1. d6 {" + "x" * 1000 + "} *"))
        [entry] = store.entries()
        store.remove(store.claim(entry.key, bool), entry.changed)
        store.entries()
        sizes.append(len(store._cache))
    assert sizes == [0, 0, 0]


def test_the_time_of_a_search_is_bounded_by_its_number_of_different_words(tmp_path: Path) -> None:
    """Each word is searched in all stored games, and a request may have 500,000 words."""
    store = GameStore(tmp_path)
    words = [f"w{number}" for number in range(MAX_WORDS)]
    store.add(parse_record(f"1. d6 {{{' '.join(words)}}} *"))
    assert len(store.entries(" ".join(words * 100))) == 1
    for search in (store.entries, store.text):
        with pytest.raises(InputError, match=f"at most {MAX_WORDS} different words"):
            search(" ".join([*words, "d6"]))
