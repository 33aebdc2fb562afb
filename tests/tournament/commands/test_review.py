"""``merels review``: one game or all games of PGN, PlayOK and journal files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from merels.protocol.common.files import LONGEST_LINE
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.protocol.games.writer import format_record
from tests.commands import command, output, refusal, run_process
from tests.protocol.review.test_review import MISSED_WIN

main = command("review")


def test_a_game_is_reviewed_as_text_json_and_pgn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = tmp_path / "game.pgn"
    game.write_text(MISSED_WIN)
    assert main([str(game), "-nodes", "20000"]) == 0
    text = capsys.readouterr().out
    assert "20. a1-g1??" in text and "Blunder, proven: a1-c5x" in text
    assert "White: 1 blunder, 0 mistakes" in text and "Black: 0 blunders" in text
    assert main([str(game), "-nodes", "2000", "-json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == 2 and [move["loss"] for move in data["moves"]] == [1.0, 0.0]
    assert main([str(game), "-nodes", "2000", "-pgn"]) == 0
    reviewed = parse_record(capsys.readouterr().out)
    thrown, last = reviewed.mainline()
    assert thrown.marks == {"eval": "#-1"} and thrown.comment.startswith("Blunder, proven: a1-c5x")
    assert (last.marks, last.comment) == ({}, ""), "the game is over"
    assert [list(node.glyphs) for node in reviewed.mainline()] == [["$4"], []]
    game.write_text(format_record(reviewed))
    assert main([str(game), "-nodes", "2000", "-pgn"]) == 0
    assert capsys.readouterr().out == format_record(reviewed)
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("1. 5 14 2. 4 6 *")
    assert main([str(numbers), "-nodes", "2000"]) == 0
    assert "2... f6" in capsys.readouterr().out


def test_a_file_that_cannot_be_reviewed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for content, message in (
        (b"", "expected games"), (b"\xff\xfe\0", "UTF-8"), (b"1. d6 d6", "line 1"),
        (b"1. d6 f4 *\n" + b" " * (LONGEST_LINE + 1),
         "expected lines of at most 16777216 characters"),
        (b"1. d6\n" + (b"f" * (9 << 20) + b"\n") * 2, "at most 16 MiB"),
        (b"1. d6 *\n1. d6\n d6 *\n", "(move 1, Black, line 3, game 2 of game.pgn)"),
        (b'[White "A"]', "moves in it"),
    ):
        Path("game.pgn").write_bytes(content)
        assert main(["game.pgn", "-strict"]) == 2
        error = capsys.readouterr().err
        assert message in error and "game.pgn" in error
    assert main(["none.pgn"]) == 2
    assert "none.pgn" in capsys.readouterr().err


def test_all_games_of_a_file_are_reviewed(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(MISSED_WIN + "\n1. d6 f4 1-0\n1. 5 14 {a\n1-0} 2. 4 *\n" + MISSED_WIN)
    text = output("review", str(games), "-nodes", "500")
    assert [line for line in text.splitlines() if line.startswith("Game ")] == [
        f"Game {number}: ? - ?, {result}"
        for number, result in enumerate(["0-1", "1-0", "*", "0-1"], 1)
    ]
    total = text[text.index("All 4 games:"):].splitlines()
    assert total[1].startswith("White: 2 blunders") and total[2].startswith("Black: 0 blunders")
    data = json.loads(output("review", str(games), "-nodes", "500", "-json"))
    assert data["version"] == 2
    assert [(game["game"], len(game["moves"])) for game in data["games"]] == [
        (1, 2), (2, 2), (3, 3), (4, 2)
    ]
    records = parse_records(output("review", str(games), "-nodes", "500", "-pgn"))
    assert [len(record.moves) for record in records] == [2, 2, 3, 2]
    # The judgement of a game does not depend on other games.
    single = json.loads(output("review", str(games), "-nodes", "500", "-json", "-game", "3"))
    assert single == {"version": 2} | data["games"][2]
    assert run_process("review", "-", "-nodes", "500", typed=games.read_text()).stdout == text


def test_a_journal_is_reviewed_as_its_pgn_is(played: Path) -> None:
    journal, pgn = str(played / "j"), str(played / "g.pgn")
    flags = ("-nodes", "50", "-game", "7")
    text = output("review", journal, *flags)
    assert text == output("review", pgn, *flags) and text.startswith("Game 7: A - B, ")
    data = [json.loads(output("review", file, *flags, "-json")) for file in (journal, pgn)]
    assert data[0] == data[1] and data[0]["white"] == "A" and data[0]["game"] == 7
    record = parse_record(output("review", journal, *flags, "-pgn"))
    assert record.tags["White"] == "A" and len(record.moves) == len(data[0]["moves"])
    text = output("review", journal, "-nodes", "1")
    assert text.count("Game ") == 10 and "All 10 games:\nA: " in text


def test_an_error_about_a_game_number_names_the_valid_numbers(played: Path, tmp_path: Path) -> None:
    message = refusal("review", f"{played}/j", "-game", "11")
    assert "-game 11': no such game in" in message and message.endswith("it has 10 games\n")
    one = tmp_path / "one.pgn"
    one.write_text("1. d6 f4 *")
    assert refusal("review", str(one), "-game", "2").endswith("it has 1 game\n")


def test_a_game_without_moves_and_with_a_wrong_result_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").write_text('[Event "E"]\n[Result "2-0"]\n')
    message = refusal("review", str(tmp_path / "empty.pgn"))
    assert message.endswith("empty.pgn': expected a game with moves in it\n")
    assert message.count("\n") == 1


def test_an_error_about_a_game_of_a_journal_with_gaps_names_its_numbers(
    played: Path, tmp_path: Path
) -> None:
    with sqlite3.connect(played / "j") as source, sqlite3.connect(tmp_path / "j") as target:
        source.backup(target)
        target.execute("DELETE FROM games WHERE number IN (1, 4)")
        target.execute("UPDATE games SET moves = 'd6 d6' || substr(moves, 6) WHERE number = 9")
    message = refusal("review", str(tmp_path / "j"), "-game", "4")
    assert message.endswith("it has 8 games, with numbers from 2 to 10\n")
    message = refusal("review", str(tmp_path / "j"), "-game", "9")
    assert "illegal move" in message and "game 9 of" in message
