"""Files of puzzles on the board."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.board.server import Server

PUZZLE = {
    "position": "@*@O*@@@/OOOOO@*O/***O*@** b 0 1 0 1", "rules": "morris NoRemovalPlies=0",
    "goal": "win", "line": ["g4", "b6-b4", "e4-e5xb4", "d6-b6", "d5-d6"], "equal": [],
    "rating": 1396, "holding": 1, "moves": 11, "depth": None,
}
"""A puzzle of three moves by Black; the second closes a mill."""


def puzzle_file(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a file of puzzles and return its path."""
    path = folder / "puzzles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_file_without_puzzles_is_refused_in_one_line(tmp_path: Path) -> None:
    for rows in ([], [PUZZLE | {"goal": "lose"}]):
        with pytest.raises(AssertionError, match="puzzles.jsonl") as refused:
            Server("-puzzles", str(puzzle_file(tmp_path, *rows)))
        assert len(str(refused.value).splitlines()) == 1
