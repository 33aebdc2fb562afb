"""What the board shows of proven turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.notation import parse_position
from merels.engine.position import Position
from merels.engine.rules import make_rules
from merels.engine.tables.build import Builder
from merels.protocol.board import view
from merels.protocol.shelf import Shelf


def test_turns_carry_their_proven_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    Builder(tmp_path, rules).build(7)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(view, "SHELF", Shelf())
    # White closes d5-e5-c5 from c4 and takes the third last man.
    position = parse_position("OO****O*/@*@*****/****@*** w 0 0 0 40", rules)
    values = view.values_view(position)
    assert set(values) == {str(turn) for turn in position.legal_turns()}
    assert values["c4-c5xd6"] == "win"
    assert set(values.values()) <= {"win", "draw", "loss"}
    assert view.values_view(Position(rules)) == {}
