"""Files of an earlier commit: each later commit reads them, or refuses them with one clear line.

`tests/data/README.md` lists the files. A commit that changes a format changes the row of its file
to status 2 and the refusal, or better, still reads it.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sqlite3
from pathlib import Path

import pytest

from merels.protocol.puzzles.puzzle import load
from tests.commands import run

OLD = Path(__file__).parent / "data" / "old"
READ = [
    ("ratings journal.db", "1  Club     60.2  124.1      6     4.0  66.7%  33.3%"),
    ("tournament -resume -quiet -journal file=journal.db", "normal          16  100.0%"),
    ("ratings converted.db", "time forfeit"),
    ("convert -to pgn converted.db", "1. d6 f4 1-0"),
    ("convert -to pgn journal.db", '[Black "Club"]'),
    ("league league status", "4  87.5%  25.0%       0  too few games"),
    ("league league site", "league/site/index.html"),
    ("tables verify -dir tables", "3-3: 210,140 values, 0 wrong"),
    ("tables probe '********/*****O*@/****OO@@ b 0 0 0 1' -dir tables", "b6-g1"),
    ("tables probe '********/*****O*@/****OO@@ b 0 0 0 1' -dir packed", "b6-g1"),
    ("convert -to wmd games/20261128-033000-000000-0a1b2c.pgn", "d6"),
]
"""Command line and a text of its output."""

REFUSED = [
    ("tournament -resume -journal converted.db", "there is no run to continue"),
    ("merge out.db converted.db converted.db", "mean nothing in other journals"),
]
"""Command line and a text of its error."""


@pytest.mark.parametrize(("words", "expected"), READ, ids=[words for words, _ in READ])
def test_a_file_of_an_earlier_commit_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: str, expected: str,
) -> None:
    shutil.copytree(OLD, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, shlex.split(words))
    assert status == 0 and expected in out, err


@pytest.mark.parametrize(("words", "expected"), REFUSED, ids=[words for words, _ in REFUSED])
def test_a_journal_of_converted_games_is_no_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: str, expected: str,
) -> None:
    shutil.copytree(OLD, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, shlex.split(words))
    assert (status, out, err.count("\n")) == (2, "", 1) and expected in err


def test_a_run_with_a_withdrawn_flag_is_not_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shutil.copyfile(OLD / "journal.db", tmp_path / "j")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("""UPDATE meta SET value = replace(value, '"reverse": false',
                            '"reverse": true') WHERE key = 'settings'""")
        database.commit()
    assert run(capsys, ["ratings", str(path)])[0] == 0
    status, out, err = run(capsys, ["tournament", "-resume", "-journal", str(path)])
    assert (status, out, err.count("\n")) == (2, "", 1) and "-reverse" in err


def test_a_puzzle_file_of_an_earlier_commit_is_read() -> None:
    assert len(load(OLD / "puzzles.jsonl")) == 3
