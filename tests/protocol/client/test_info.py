"""Parsing of ``info`` lines: each word consumes only its own values."""

from __future__ import annotations

import pytest

from merels.engine.game.position import WHITE, Position
from merels.protocol.client.info import parse_info, read_info
from merels.protocol.client.scanner import parse_summary

NUMBERS = {"depth": 5, "seldepth": 9, "nodes": 77, "cp": -12}


@pytest.mark.parametrize(
    "words",
    [
        "currmove d6", "currmove d6 currmovenumber 3", "wdl 1 2 3", "lowerbound",
        "refutation d6 f4", "currline 1 d6 f4", "hashfull 10",
    ],
)  # fmt: skip
def test_an_inserted_word_does_not_change_the_fields_after_it(words: str) -> None:
    head, tail = "info depth 5", "seldepth 9 nodes 77 score cp -12 pv d6 f4"
    without = read_info(f"{head} {tail}".encode())
    assert (without.numbers, without.pv) == (NUMBERS, ["d6", "f4"])
    info = read_info(f"{head} {words} {tail}".encode())
    assert info.mistakes == info.unknown == []
    assert info.numbers.items() >= NUMBERS.items() and info.pv == without.pv


def test_the_first_of_a_repeated_number_counts_for_clients_and_tournaments() -> None:
    line = b"info depth 3 nodes 5 score cp 7 depth 4 nodes 6 score cp 8"
    info, summary = parse_info(line, Position()), parse_summary(line, WHITE)
    assert (info.depth, info.nodes) == (summary.depth, summary.nodes) == (3, 5)
    assert info.score is not None and info.score.relative.cp == summary.score == 7


def test_a_word_without_its_number_does_not_consume_the_next_word() -> None:
    info = read_info(b"info depth seldepth 9 nodes x time 3 score 7")
    assert info.numbers == {"seldepth": 9, "time": 3}
    assert info.mistakes == [
        "'depth' is followed by 'seldepth'; expected a whole number from 0",
        "'nodes' is followed by 'x'; expected a whole number from 0",
        "'score' is not followed by cp or mate",
    ]


def test_a_negative_count_and_a_missing_value_are_described() -> None:
    info = read_info(b"info nodes -5 score cp 1.5 depth")
    assert info.mistakes == [
        "'nodes' is followed by '-5'; expected a whole number from 0",
        "'cp' is followed by '1.5'; expected a whole number",
        "'depth' is the last word; expected a whole number from 0",
    ]
