"""``merels suite``: printed blunders, the positions that -known selects, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merels.engine.game.rules import preset
from tests.commands import command
from tests.kit.tables import copy_tables

main = command("suite")

START_ROW = {"position": "********/********/******** w 9 9 0 1", "value": 0, "best": ["d6"]}


def write_suite(folder: Path, *rows: object) -> str:
    """Write a file of positions; return its name."""
    path = folder / "suite.json"
    path.write_text(json.dumps(rows))
    return str(path)


def test_show_prints_the_blunders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    won = {"position": "********/@*@*@***/OO***O** w 0 0 0 20", "value": 1}
    path = write_suite(tmp_path, won | {"best": ["a1-a7xd6"]}, won | {"best": ["a1-a4"]})
    assert main([path, "-depth", "3", "-show"]) == 0
    blunder, *lines = capsys.readouterr().out.splitlines()
    assert blunder.endswith("played a1-a7xd6, holding: a1-a4")
    assert lines[-1].split() == ["all", "1", "of", "2", "thrown", "away", "50.00", "%"]


@pytest.mark.parametrize(("every", "searched"), [("1", 3), ("2", 2), ("3", 1)])
def test_every_selects_each_nth_position(
    every: str, searched: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, START_ROW, START_ROW, START_ROW)
    assert main([path, "-nodes", "1", "-every", every]) == 0
    assert f"of     {searched} thrown away" in capsys.readouterr().out.splitlines()[-1]


def test_known_selects_positions_in_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_tables(tmp_path, preset("morris"), 6)
    flying = START_ROW | {"position": "O*O*O***/********/@*@*@*** w 0 0 0 20", "best": []}
    words = [write_suite(tmp_path, flying, START_ROW), "-nodes", "1", "-tables", str(tmp_path)]
    assert main(words) == 0
    assert "of     2 thrown away" in capsys.readouterr().out.splitlines()[-1]
    assert main([*words, "-known"]) == 0
    assert "of     1 thrown away" in capsys.readouterr().out.splitlines()[-1]


def test_an_unusable_suite_or_folder_of_tables_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_tables(tmp_path, preset("morris"), 6)
    for name in ("empty", "invalid"):
        (tmp_path / name).mkdir()
    valid, empty = write_suite(tmp_path, START_ROW), write_suite(tmp_path / "empty")
    invalid = write_suite(tmp_path / "invalid", START_ROW, START_ROW | {"position": "x"})
    for arguments, message in (
        ([valid, "-known"], "expected -tables DIR"),
        ([valid, "-tables", str(tmp_path / "mistyped")], "no usable tables here"),
        ([valid, "-tables", str(tmp_path), "-known"], "found none"),
        ([empty], "found none"),
        ([invalid], "'x': "),
        ([invalid], f" (position 2 of {invalid})"),
    ):
        assert main([*arguments, "-nodes", "1"]) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and message in captured.err


def test_a_suite_in_another_encoding_is_read_or_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path, START_ROW)
    text = Path(path).read_text()
    Path(path).write_text(text, encoding="utf-16")
    assert main([path, "-nodes", "1"]) == 0
    assert "1 thrown away" in capsys.readouterr().out
    Path(path).write_bytes(text.replace("{", '{"comment": "ü", ', 1).encode("latin-1"))
    assert main([path, "-nodes", "1"]) == 2
    error = capsys.readouterr().err
    assert "expected text in UTF-8, found byte 0xfc at offset" in error and "codec" not in error


def test_a_suite_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        assert main([str(path)]) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and path.name in captured.err
        assert "cannot read this file: " in captured.err
