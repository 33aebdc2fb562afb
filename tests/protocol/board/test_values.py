"""Proven values of moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.cache import TableCache
from merels.protocol.board import proven
from tests.kit.tables import copy_tables


def test_moves_have_their_proven_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    copy_tables(tmp_path, rules, 7)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(proven, "TABLE_CACHE", TableCache())
    # c4-c5 closes the mill c5, d5, e5 and leaves Black two men.
    position = parse_position("OO****O*/@*@*****/****@*** w 0 0 0 40", rules)
    view = proven.proven_view(position)
    assert view is not None and view["here"]["value"] == "win"
    values = {move["move"]: move["value"] for move in view["moves"]}
    assert set(values) == {str(move) for move in position.legal_moves()}
    assert values["c4-c5xd6"] == "win"
    order = [move["value"] for move in view["moves"]]
    assert order == sorted(order, key=["win", "draw", "loss"].index)
    assert proven.proven_view(Position(rules=rules)) is None
