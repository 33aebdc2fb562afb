"""What tables prove of a position and its moves, where they know only some of the moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.protocol.board.proven import proven_view

RULES = make_rules("morris", ["NoRemovalPlies=0", "ThreeThreePlies=0"])


@pytest.fixture(scope="module")
def six_men(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of three against three only."""
    root = tmp_path_factory.mktemp("tables")
    Builder(root, RULES, depths=True).build(6)
    return root


@pytest.fixture(autouse=True)
def folder(six_men: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The board's tables are these while a test runs."""
    monkeypatch.setenv("MERELS_TABLES", str(six_men))
    yield


def test_a_known_win_is_the_value_though_other_moves_are_unknown() -> None:
    # Four men against three: a removal ends the game, and no other move is known.
    view = proven_view(parse_position("********/@*@*@***/OO*O**O* w 0 0 0 20", RULES))
    assert view is not None and view["here"] == {"value": "win", "depth": 1}
    unknown = ["value" not in move for move in view["moves"]]
    assert any(unknown) and not all(unknown)
    assert unknown == sorted(unknown), "known moves come first"


@pytest.mark.parametrize(("text", "best"), [
    ("********/OO***O**/@*@*@*@* w 0 0 0 20", "loss"),
    ("O******@/*****O@@/O@****** w 0 0 0 1", "draw"),
])
def test_a_known_move_that_does_not_win_proves_nothing_of_the_position(
    text: str, best: str
) -> None:
    # White has three men, Black four: only removals lead to three against three.
    view = proven_view(parse_position(text, RULES))
    assert view is not None and view["here"] is None
    values = [move.get("value") for move in view["moves"]]
    assert values[0] == best and values[-1] is None


def test_every_move_known_gives_the_best_ones_value_and_replies_that_hold_it() -> None:
    position = parse_position("********/OO***O**/@*@*@*** w 0 0 0 20", RULES)
    view = proven_view(position)
    assert view is not None and all("value" in move for move in view["moves"])
    assert view["here"] == {key: view["moves"][0][key] for key in ("value", "depth")}
    assert len(view["moves"]) == len(position.legal_moves())


def test_nothing_is_proven_where_no_move_is_known_or_the_game_is_over() -> None:
    assert proven_view(parse_position("********/********/OO*@@*** w 5 5 0 3", RULES)) is None
    assert proven_view(parse_position("********/********/OOO@@*** b 0 0 0 20", RULES)) is None
