"""``merels convert``: positions, games and rules from every form into every other form."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from merels.engine.game.notation import START, format_position
from merels.engine.game.rules import PRESETS
from merels.protocol.formats.forms import FORMS, GAMES, POSITIONS
from merels.protocol.formats.pgn.reader import parse_records
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record
from tests.commands import command, run, run_process
from tests.engine.random_games import random_positions

main = command("convert")
DATA = Path(__file__).parents[2] / "data"
GAMES_FILE = DATA / "games.json"
OLD_JOURNAL = DATA / "old" / "converted.db"
"""A journal with the game 1. d6 f4."""
SIX_FIELDS = "********/O*@*****/******** w 8 8 0 2"
"""A position in the form of six fields."""
MFEN = "MFEN/1.0 mill24-state-v1 ......../.W.B..../........ w p p 8,8 - 0 2 -"
"""The same position as MFEN."""


def convert(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """Return the output of the command, which must print nothing on standard error."""
    status, out, err = run(capsys, ["convert", *map(str, words)])
    assert (status, err) == (0, "")
    return out


def games_under(rules: str) -> list[Record]:
    """Return the games of the test data under ``rules`` that begin at the start position."""
    text = "".join(
        f'[White "A{number % 3}"]\n[Black "B"]\n[Variant "{rules}"]\n[FEN "{game["position"]}"]\n\n'
        f"{game['moves']} {game['result']}\n\n"
        for number, game in enumerate(json.loads(GAMES_FILE.read_text()))
        if game["rules"] == rules and game["position"] == START
    )
    return list(parse_records(text))


@pytest.mark.parametrize("rules", PRESETS)
def test_games_survive_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: str
) -> None:
    games = games_under(rules)[:6]
    assert len(games) == 6
    source = tmp_path / "games.pgn"
    source.write_text("".join(map(format_record, games)))
    pgn = convert(capsys, source, "-to", "pgn")
    assert pgn == source.read_text()
    forms = {"pgn": source}
    for form in ("playok", "wmd"):
        file = tmp_path / f"games.{form}"
        assert main([str(source), "-to", form, "-out", str(file)]) == 0
        forms[form] = file
    capsys.readouterr()
    moves = [record.moves for record in games]
    for form, file in forms.items():
        for target in GAMES:
            status, out, _ = run(
                capsys, ["convert", str(file), "-from", form, "-to", target, "-variant", rules]
            )
            assert status == 0
            result = tmp_path / "result"
            result.write_text(out)
            records = list(parse_records(convert(capsys, result, "-to", "pgn", "-variant", rules)))
            assert [record.moves for record in records] == moves
            assert [record.result for record in records] == [game.result for game in games]
            assert {record.start.rules for record in records} == {PRESETS[rules]}


@pytest.mark.parametrize("rules", PRESETS)
def test_positions_survive_every_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: str
) -> None:
    file = tmp_path / "positions"
    text = "".join(f"{format_position(position)}\n" for position in random_positions(8, 400))
    for form in POSITIONS:
        file.write_text(text)
        file.write_text(convert(capsys, file, "-to", form, "-variant", rules))
        for other in POSITIONS:
            assert convert(capsys, file, "-to", other, "-variant", rules, "-from", form)
        assert convert(capsys, file, "-to", "six", "-variant", rules) == text
    game = tmp_path / "game"
    file.write_text(text)
    assert main([str(file), "-to", "pgn", "-out", str(game), "-variant", rules]) == 0
    assert run(capsys, ["convert", str(game), "-to", "six", "-variant", rules])[1] == text


@pytest.fixture
def converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Return a function that converts a text with the given flags."""
    monkeypatch.chdir(tmp_path)

    def convert_text(text: str, *words: str) -> str:
        Path("typed").write_text(text)
        return convert(capsys, "typed", *words)

    return convert_text


def test_each_form_is_written_and_detected(converted: Callable[..., str]) -> None:
    assert converted(SIX_FIELDS, "-to", "mfen") == f"{MFEN}\n"
    assert converted(f"\n; ours\n{MFEN} ; a comment\n", "-to", "six") == f"{SIX_FIELDS}\n"
    seventeen = "********/O*@*****/******** w p p 1 8 1 8 0 0 0 0 0 0 0 0 2"
    assert converted(MFEN, "-to", "seventeen") == f"{seventeen}\n"
    both = converted(f"{seventeen} ids:3\n{SIX_FIELDS}", "-to", "six")
    assert both == f"{SIX_FIELDS}\n{SIX_FIELDS}\n"
    assert f'[FEN "{SIX_FIELDS}"]' in converted(MFEN, "-to", "pgn")
    game = "1. 5 14 2. 2 11 3. 8x14 22 1-0\n"
    assert converted(game, "-to", "wmd") == "1. d6 f4\n2. d7 b4\n3. d5xf4 a1\n1-0\n\n"
    assert game in converted("1. D6 F4 2. D7 B4 3. D5 xF4 A1 1-0", "-to", "playok")
    last = converted(game, "-to", "mfen", "-last")
    assert last == "MFEN/1.0 mill24-state-v1 .W....B./.W.....B/.W...... w p p 6,6 - 0 6 -\n"


def test_rules_are_written_by_name_and_fields(
    converted: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "roman\nmorris Flying=never\n"
    assert converted(lines, "-to", "rules") == lines
    assert convert(capsys, "-to", "rules", "-variant", "loc") == "loc\n"
    text = convert(capsys, "-to", "rules", "-variant", "morris", "-set", "Flying=never")
    assert text == "morris Flying=never\n"


def test_standard_input_is_converted() -> None:
    assert run_process("convert", "-to", "mfen", typed=SIX_FIELDS).stdout == f"{MFEN}\n"


@pytest.mark.parametrize(
    "words, text, message",
    [
        ("-to six", "", "'typed': expected positions, games or rules here, found none"),
        ("-to six", "1. d6 f4", "'-to six': a position has no place for 2 moves; add -last for the "
         "position after them (game 1 of typed)"),
        ("-to playok", f"{START}\n{SIX_FIELDS}",
         "PlayOK records begin at the starting position (line 2"),
        ("-to wmd", SIX_FIELDS, "a list of moves begins at the starting position"),
        ("-to six", MFEN.replace("p p 8,8 -", "p r 8,8 w:mill:b:b:1:000400:b"),
         "a removal is still due; give the position after the whole move"),
        ("-to mfen", "********/O*@*****/******** w p r 1 8 1 8 1 0 -1 -1 -1 -1 0 0 2",
         "a removal is still due"),
        ("-to rules", SIX_FIELDS, "this is a position: expected six"),
        ("-to rules", "1. d6", "this is a game: expected six"),
        ("-to pgn", "loc", "'-to pgn': loc is a rule set: expected rules"),
        ("-to journal", SIX_FIELDS, "invalid choice: 'journal'"),
        ("-from mfen -to six", SIX_FIELDS, "expected a position as MFEN (line 1 of typed)"),
        ("-from playok -to six", "1. d6", "expected a move such as 7"),
        ("-from pgn -to six", "1. 5", "expected a move such as d6"),
        ("-from journal -to pgn", "1. d6", "not a complete merels journal"),
        ("-to six nowhere", "1. d6", "cannot read this file: No such file"),
        ("-to fen", "", "invalid choice: 'fen'"),
        ("-to six", "https://a.example/1\nhttps://a.example/2", "'https://a.example/1': expected "
         "games (PGN, PlayOK's numbers, lists of moves), positions"),
        ("", "", "-to"),
    ],
)  # fmt: skip
def test_content_that_cannot_be_converted_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    words: str, text: str, message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("typed").write_text(text)
    status, out, error = run(capsys, ["convert", *words.split(), "typed"])
    assert status == 2 and message in error and len(error.splitlines()) == 1


def test_a_notice_names_the_content_that_a_form_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "game"
    game.write_text('[White "A"]\n[Variant "loc"]\n\n1. d6 $1 {[%clk 0:01:00] good} (1. f4) f4 *\n')
    for form, missing in (
        ("pgn", ""), ("playok", "annotation glyphs, comments, marks such as [%clk], variations"),
        ("wmd", "annotation glyphs, comments, marks such as [%clk], rules, tags, variations"),
        ("six", "annotation glyphs, comments, marks such as [%clk], rules, tags, variations"),
    ):
        status, _, error = run(capsys, ["convert", "-to", form, "-last", str(game)])
        message = f"merels convert: {form} has no place for these: {missing}\n" if missing else ""
        assert (status, error) == (0, message)


def test_a_journal_with_an_illegal_move_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "j"
    shutil.copyfile(OLD_JOURNAL, journal)
    with contextlib.closing(sqlite3.connect(journal)) as database:
        database.execute("UPDATE games SET moves = 'd6 d6'")
        database.commit()
    for form in ("wmd", "pgn"):
        status, out, error = run(capsys, ["convert", str(journal), "-to", form])
        assert (status, out) == (2, "")
        assert "'d6': illegal move, d6 is occupied (move 1, Black, game 1 of " in error


def test_an_existing_file_is_not_overwritten_by_a_failed_conversion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = tmp_path / "g.pgn", tmp_path / "o"
    game.write_text("1. d6 *\n")
    words = ["convert", str(game), "-strict", "-to", "pgn", "-out"]
    assert "name another for -out" in run(capsys, [*words, str(game)])[2]
    out.write_text("before")
    game.write_text("1. d6 *\n\n1. d6 d6 *\n")
    status, _, error = run(capsys, [*words, str(out)])
    assert status == 2 and "'d6': illegal move, d6 is occupied" in error and "game 2" in error
    assert out.read_text() == "before"


def test_every_form_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = convert(capsys, "--help")
    assert all(f"\n  {form} " in text for form in FORMS)
