"""What the board shows of proven moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.protocol.board import proven
from merels.protocol.uci.table_cache import TableCache


def test_moves_carry_their_proven_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    Builder(tmp_path, rules).build(7)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(proven, "TABLE_CACHE", TableCache())
    # White closes d5-e5-c5 from c4 and removes the third last man.
    position = parse_position("OO****O*/@*@*****/****@*** w 0 0 0 40", rules)
    found = proven.proven_view(position)
    assert found is not None and found["here"]["value"] == "win"
    values = {one["move"]: one["value"] for one in found["moves"]}
    assert set(values) == {str(move) for move in position.legal_moves()}
    assert values["c4-c5xd6"] == "win"
    order = [one["value"] for one in found["moves"]]
    assert order == sorted(order, key=["win", "draw", "loss"].index)
    assert proven.proven_view(Position(rules)) is None
