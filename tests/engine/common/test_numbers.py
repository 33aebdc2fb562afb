"""Numbers with nouns in messages."""

from __future__ import annotations

import pytest

from merels.engine.common.numbers import counted


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "game", "0 games"),
        (1, "game", "1 game"),
        (2, "extra pairing", "2 extra pairings"),
        (1, "match", "1 match"),
        (3, "match", "3 matches"),
        (1, "inaccuracy", "1 inaccuracy"),
        (1000, "inaccuracy", "1000 inaccuracies"),
    ],
)
def test_nouns_agree_with_their_number(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text
