"""Proven values when the tablebase has only some of the moves of a position."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS, make_rules
from merels.protocol.board.proven import proven_view
from tests.kit.tables import copy_tables

RULES = make_rules("morris", ["NoRemovalPlies=0", "ThreeThreePlies=0"])


@pytest.fixture(scope="module")
def six_men(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tablebase with three against three men only."""
    root = tmp_path_factory.mktemp("tables")
    copy_tables(root, RULES, 6, depths=True)
    return root


@pytest.fixture(autouse=True)
def use_tables(six_men: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``six_men`` the board's tablebase during a test."""
    monkeypatch.setenv("MERELS_TABLES", str(six_men))


def test_a_known_win_proves_the_position_despite_unknown_moves() -> None:
    # Four men against three: only removals are known, because they end the game.
    view = proven_view(parse_position("********/@*@*@***/OO*O**O* w 0 0 0 20", RULES))
    assert view is not None and view["here"] == {"value": "win", "depth": 1}
    unknown = ["value" not in move for move in view["moves"]]
    assert any(unknown) and not all(unknown)
    assert unknown == sorted(unknown), "known moves come first"


@pytest.mark.parametrize(("text", "best"), [
    ("********/OO***O**/@*@*@*@* w 0 0 0 20", "loss"),
    ("O******@/*****O@@/O@****** w 0 0 0 1", "draw"),
])
def test_a_known_draw_or_loss_does_not_prove_the_position(text: str, best: str) -> None:
    # White has three men, Black four: only removals lead to known positions.
    view = proven_view(parse_position(text, RULES))
    assert view is not None and view["here"] is None
    values = [move.get("value") for move in view["moves"]]
    assert values[0] == best and values[-1] is None


def test_known_values_of_all_moves_prove_the_position() -> None:
    position = parse_position("********/OO***O**/@*@*@*** w 0 0 0 20", RULES)
    view = proven_view(position)
    assert view is not None and all("value" in move for move in view["moves"])
    assert view["here"] == {key: view["moves"][0][key] for key in ("value", "depth")}
    assert len(view["moves"]) == len(position.legal_moves())


def test_the_tables_of_the_opening_serve_without_tables_of_the_user() -> None:
    view = proven_view(Position(rules=PRESETS["mill"]))
    assert view is not None and view["here"] == {"value": "draw", "depth": None}
    assert len(view["moves"]) == 24 and {move["value"] for move in view["moves"]} == {"draw"}


def test_nothing_is_proven_without_known_moves_or_after_the_end() -> None:
    assert proven_view(parse_position("********/********/OO*@@*** w 5 5 0 3", RULES)) is None
    assert proven_view(parse_position("********/********/OOO@@*** b 0 0 0 20", RULES)) is None
