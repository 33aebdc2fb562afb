"""Parsing of whole numbers, and numbers with nouns in messages."""

from __future__ import annotations

import pytest

from merels.engine.common.numbers import counted, parse_whole


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


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7), ("+7", 7), ("-7", -7), ("007", 7), ("0" * 40 + "5", 5), ("-0", 0),
        ("9" * 19, int("9" * 19)), ("9" * 20, 1 << 64), ("-" + "9" * 5000, -(1 << 64)),
        ("", None), ("+", None), ("-", None), ("7 ", None), ("1_000", None), ("1e3", None),
        ("٣", None), ("²", None), ("--7", None),
    ],
)
def test_whole_numbers_are_parsed_up_to_a_bound(text: str, number: int | None) -> None:
    assert parse_whole(text) == number
