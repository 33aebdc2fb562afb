"""Notices on positions that a user has set up."""

from __future__ import annotations

import pytest

from merels.engine.game.notation import parse_position
from merels.protocol.board.view import notice_on


@pytest.mark.parametrize(("text", "words"), [
    ("********/********/******** w 9 9 0 1", ""),
    ("********/********/******** w 9 7 0 1", "differ by one at most"),
    ("********/********/O******* w 8 9 0 1", "In a game Black, with one more man in hand"),
    ("********/********/O******* b 8 9 0 1", ""),
    ("********/********/OO****@@ w 0 0 0 1", "The game is over here: Black wins"),
])
def test_notices_on_positions_that_were_set_up(text: str, words: str) -> None:
    note = notice_on(parse_position(text))
    assert words in note and bool(words) == bool(note)
