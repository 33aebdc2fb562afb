"""Test suites: reading their files, and counting blunders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import BlunderCount, load, play

MORRIS = make_rules("morris")
PLACING = "********/********/O@O@**** w 7 7 0 3"
WON = "********/@*@*@***/OO***O** w 0 0 0 20"
"""White wins by a1-a7, which closes a mill and leaves Black with two men."""
FINISHED = "********/********/OOO@@*** w 0 0 0 20"


def suite_file(tmp_path: Path, rows: object) -> Path:
    path = tmp_path / "suite.json"
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows), encoding="utf-8")
    return path


def test_moves_are_counted_by_phase_and_value(tmp_path: Path) -> None:
    rows = [
        {"position": WON, "value": 1, "moves": 60, "best": ["a1-a7xd6", "a1-a7xf4"]},
        {"position": PLACING, "value": 0, "moves": 21, "best": ["d5"]},
    ]
    tally = BlunderCount()
    suite = load(suite_file(tmp_path, rows), MORRIS)
    for problem, move, held in play(suite, Limit(depth=3), Searcher(1)):
        assert held == (move in problem.best)
        tally.add(problem, held)
    lines = list(tally.lines())
    assert [line.split("  ")[0].strip() for line in lines] == [
        "placing drawn", "placing", "flying won", "flying", "all"
    ]
    assert "of     2 thrown away" in lines[-1]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ("{", "expected a JSON list of positions"),
        ("[" * 100_000, "expected a JSON list of positions"),
        ({}, "expected a JSON list"),
        ([5], "'5' (token 0)"),
        ([{"position": 5, "value": 1, "best": []}], "expected an object with position"),
        ([{"position": PLACING, "value": 2, "best": []}], "expected an object with position"),
        ([{"position": PLACING, "value": "1", "best": []}], "expected an object with position"),
        ([{"position": PLACING, "value": 0}], "expected an object with position"),
        ([{"position": "x", "value": 0, "best": []}], "'x' (token 0)"),
        ([{"position": PLACING, "value": 0, "best": [7]}], "'7' (token 0)"),
        ([{"position": PLACING, "value": 0, "best": ["d7"]}], "illegal move, d7 is occupied"),
        ([{"position": FINISHED, "value": -1, "best": []}], "the game is over here"),
    ],
)
def test_an_invalid_suite_is_refused(tmp_path: Path, rows: object, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        load(suite_file(tmp_path, rows), MORRIS)
    assert complaint in str(caught.value)
