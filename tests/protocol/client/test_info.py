"""Lines of ``info``: each word takes what belongs to it, and no more."""

from __future__ import annotations

import pytest

from merels.protocol.client.info import read_info

EVERYTHING = {"depth": 5, "seldepth": 9, "nodes": 77, "cp": -12}


@pytest.mark.parametrize(
    "words",
    [
        "currmove d6", "currmove d6 currmovenumber 3", "wdl 1 2 3", "score cp 5", "lowerbound",
        "refutation d6 f4", "currline 1 d6 f4", "hashfull 10",
    ],
)  # fmt: skip
def test_a_word_takes_nothing_of_the_words_behind_it(words: str) -> None:
    head, tail = "info depth 5", "seldepth 9 nodes 77 score cp -12 pv d6 f4"
    before = read_info(f"{head} {tail}".encode())
    assert (before.numbers, before.pv) == (EVERYTHING, ["d6", "f4"])
    found = read_info(f"{head} {words} {tail}".encode())
    assert found.mistakes == found.unknown == []
    assert found.numbers.items() >= EVERYTHING.items() and found.pv == before.pv


def test_a_word_without_its_number_leaves_the_next_word() -> None:
    found = read_info(b"info depth seldepth 9 nodes x time 3 score 7")
    assert found.numbers == {"seldepth": 9, "time": 3}
    assert found.mistakes == [
        "'depth' is followed by 'seldepth', not a number",
        "'nodes' is followed by 'x', not a number",
        "'score' is not followed by cp or mate",
    ]
