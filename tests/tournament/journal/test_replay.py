"""Games read from files and pipes, and the share that was read so far."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.formats.pgn.variants import RecordRules
from merels.tournament.journal.replay import stored_games

GAMES = '[White "A"]\n[Black "B"]\n\n1. d6 f4 *\n\n[White "C"]\n\n1. d2 *\n'


def test_games_of_a_file_state_the_share_read_so_far(tmp_path: Path) -> None:
    path = tmp_path / "g.pgn"
    path.write_text(GAMES)
    games = list(stored_games(str(path), RecordRules()))
    players = [(game.number, game.white, game.black) for game in games]
    assert players == [(1, "A", "B"), (2, "C", "?")]
    assert 0 < games[0].share < games[1].share <= 1
    assert [len(game.read().moves) for game in games] == [2, 1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_games_of_a_pipe_have_a_share_of_zero(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(GAMES), daemon=True)
    writer.start()
    games = list(stored_games(str(path), RecordRules()))
    writer.join(60)
    assert [(game.white, game.share) for game in games] == [("A", 0.0), ("C", 0.0)]


def test_a_file_without_games_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.pgn"
    path.write_text("")
    with pytest.raises(InputError, match="expected games in this file, found none"):
        list(stored_games(str(path), RecordRules()))
