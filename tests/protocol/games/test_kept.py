"""The folder of kept games, of which other programs may be users, too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from merels.engine.game.position import Position
from merels.engine.game.record_reader import parse_record
from merels.protocol.games.kept import Kept
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.training import Attempt, Trainer

posix = pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")


START = Position()
PUZZLE = Puzzle(START, 1, (START.legal_moves()[0],), (), 1, 24, 1)


def fail(trainer: Trainer) -> None:
    """Count a puzzle that was not solved."""
    attempt = Attempt(PUZZLE)
    attempt.points = 0.0
    trainer.count(attempt)


@posix
def test_a_link_in_the_place_of_a_draft_is_not_followed(tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "games"
    victim.write_text("the user's")
    folder.mkdir()
    (folder / "key.new").symlink_to(victim)
    (folder / "player.new").symlink_to(victim)
    Kept(folder).add(parse_record("1. d6 *"))
    fail(Trainer(folder))
    assert victim.read_text() == "the user's"
    assert len(list(folder.glob("*.pgn"))) == 1 and (folder / "player.json").is_file()


def test_two_servers_count_the_puzzles_of_one_player(tmp_path: Path) -> None:
    first, second = Trainer(tmp_path), Trainer(tmp_path)
    for trainer in (first, second, second, first):
        fail(trainer)
    assert Trainer(tmp_path).player.tried == first.player.tried == 4
