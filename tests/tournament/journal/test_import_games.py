"""PGN files read for ratings, by paragraphs for speed; causes of the games' ends."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from io import StringIO
from itertools import repeat
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.common import files
from merels.protocol.formats.pgn.tokens import split_games
from merels.tournament.journal.import_games import GamesFile, PlayedGame
from merels.tournament.journal.players import Roster
from merels.tournament.play.game import RULE_CAUSES
from merels.tournament.statistics.terminations import CAUSES
from tests.benchmarks.journals import write_journal, write_pgn
from tests.line_count import lines_run

PIECES = [
    '[Event "x"]\n', '[White "a"]\n', '[White "b"] \n', '[Round "1\\"2"]\n', '[Event "', "\n",
    " \n",
    "1. d2 b4\n", "d6 ", "{+0.1/2 0.1s}", "{", "}", '{a 1-0 [x "y"]\n', "(", ")", "1-0", "1-0\n\n",
    "*\n", "1/2-1/2\n\n", " 1/2 ", ";x {\n", "%{\n", "½", "[", "d2{c}1-0\n", "1{x}-0\n", "\t\n",
    "\x0b", "(b2 1-0)\n", '[Event "y"]\n[Site "z"]\n\n', "1. d2 {a\nb} *\n\n", "0:1\n", "1-0\n{a\n",
    "\n\ufeff", '[white "a"]\n', '[Site "z"]\n[Result "1-0"]\n',
]  # fmt: skip
"""Pieces of text from which the test makes random files."""
MAX_LINES = 350
"""Limit of executed lines of Python for a game of 80 moves; reading line by line needs more."""


def test_reading_by_lines_and_by_paragraphs_gives_the_same_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(1)
    path = tmp_path / "games.pgn"
    for _ in range(500):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 25)))
        path.write_text(text, encoding="utf-8", newline="")
        monkeypatch.setattr(files, "CHUNK", chance.choice((1, 10, 10_000)))
        paragraphs = list(files.read_paragraphs(str(path)))
        assert "".join(paragraphs) == text
        assert list(split_games(paragraphs)) == list(split_games(StringIO(text))), text


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    monkeypatch.setattr(files, "CHUNK", 100)
    path = tmp_path / "games.pgn"
    path.write_text("".join(repeat("1", 2000)), encoding="utf-8")
    with pytest.raises(InputError, match="expected lines of at most 1000 characters"):
        list(files.read_paragraphs(str(path)))


def test_a_player_that_the_settings_lack_is_damage_of_the_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "games.db")
    write_journal(path, 2, 2, 8)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE games SET white = 'Engine 9' WHERE number = 1")
    with pytest.raises(InputError, match="damaged: its settings have no engine Engine 9"):
        list(GamesFile(path).games(Roster()))


def test_reading_a_pgn_game_executes_few_lines(tmp_path: Path) -> None:
    journal, pgn = str(tmp_path / "games.db"), str(tmp_path / "games.pgn")
    write_journal(journal, 20, 4, 80)
    write_pgn(pgn, journal, 20)
    games: list[PlayedGame] = []
    lines = lines_run(lambda: games.extend(GamesFile(pgn).games(Roster())))
    assert len(games) == 20 and lines < 20 * MAX_LINES


def test_a_game_of_unknown_cause_has_its_termination_as_reason(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for cause, reason in (("blocked", "blocked"), ("White mates", "normal"), ("", "normal")):
        path.write_text(f'[White "A"]\n[Black "B"]\n[Cause "{cause}"]\n\n1. d6 1-0\n')
        (game,) = GamesFile(str(path)).games(Roster())
        assert game.ending.reason == reason


def test_names_that_look_the_same_are_one_player(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    for name in ("Müller", " Müller ", "Mu\u0308ller", "Müller\u00a0"):
        path.write_text(f'[White "{name}"]\n[Black " ? "]\n\n1. d6 1-0\n', encoding="utf-8")
        (game,) = GamesFile(str(path)).games(Roster())
        assert (game.white, game.black) == ("Müller", "")


def test_every_outcome_of_the_rules_has_a_cause() -> None:
    reasons = ("men", "blocked", "repetition", "three", "norem")
    normal = {cause for cause, termination in CAUSES.items() if termination == "normal"}
    assert {RULE_CAUSES.get(reason, reason) for reason in reasons} == normal
