"""Replacement in the transposition table: the entries of one bucket are read back."""

from __future__ import annotations

from merels.engine.core import core

NO_MOVE = 0xFFFFF
UPPER, LOWER, EXACT = 1, 2, 3
AGE = 8
"""Plies that a result is worth less for each search since."""


def result(
    key: int, depth: int, bound: int = EXACT, search: int = 7, score: int = 5
) -> tuple[int, int, int, int, int, int]:
    return search, key, NO_MOVE, score, depth, bound


def depths(*results: tuple[int, int, int, int, int, int]) -> dict[int, int]:
    """The depths in a bucket after some results, by key."""
    return {key: data >> 36 & 0xFF for key, data in core.bucket_after(results) if data}


FULL = (result(1, 9), result(2, 3), result(3, 6), result(4, 12))


def test_four_results_of_a_bucket_are_kept_whole() -> None:
    entries = core.bucket_after([
        result(1, 9, UPPER, 255, -32_000), result(2, 0, LOWER, 0, 32_000), result(3, 255),
        result(2**64 - 1, 7, EXACT, 3, -1),
    ])
    read = [
        (key, data & NO_MOVE, data >> 20 & 0xFFFF, data >> 36 & 0xFF, data >> 44 & 3, data >> 46)
        for key, data in entries
    ]
    assert read == [
        (1, NO_MOVE, -32_000 & 0xFFFF, 9, UPPER, 255), (2, NO_MOVE, 32_000, 0, LOWER, 0),
        (3, NO_MOVE, 5, 255, EXACT, 7), (2**64 - 1, NO_MOVE, 0xFFFF, 7, EXACT, 3),
    ]


def test_the_shallowest_result_of_a_search_makes_room() -> None:
    assert depths(*FULL, result(5, 1)) == {1: 9, 5: 1, 3: 6, 4: 12}
    assert depths(*FULL, result(5, 1), result(6, 2)) == {1: 9, 6: 2, 3: 6, 4: 12}


def test_a_result_of_an_earlier_search_is_worth_less() -> None:
    def kept(depth: int, age: int) -> bool:
        old = result(8, depth, search=7 - age)
        return 8 in depths(old, *FULL[1:], result(5, 1))

    for age in (1, 2, 3):
        # The shallowest of the others has a depth of three; of two alike the first goes.
        assert kept(4 + age * AGE, age) and not kept(3 + age * AGE, age)
    assert kept(4, 0) and not kept(3, 0)


def test_ages_go_on_where_the_number_of_the_search_begins_again() -> None:
    new = [result(key, 3, search=0) for key in (2, 3, 4)]
    assert 8 not in depths(result(8, 3 + AGE, search=255), *new, result(5, 1, search=0))
    assert 8 in depths(result(8, 4 + AGE, search=255), *new, result(5, 1, search=0))


def test_a_position_has_one_entry_which_a_deeper_result_replaces() -> None:
    for bound in (UPPER, LOWER, EXACT):
        assert depths(*FULL, result(2, 4, bound)) == {1: 9, 2: 4, 3: 6, 4: 12}
        assert depths(*FULL, result(2, 3, bound, score=9)) == {1: 9, 2: 3, 3: 6, 4: 12}
    (_, data), *_ = core.bucket_after([result(1, 3), result(1, 3, UPPER, score=9)])
    assert (data >> 20 & 0xFFFF, data >> 44 & 3) == (9, UPPER)


def test_a_shallower_bound_replaces_only_what_an_earlier_search_found() -> None:
    for bound in (UPPER, LOWER):
        assert depths(result(1, 9), result(1, 8, bound)) == {1: 9}
        assert depths(result(1, 9, search=6), result(1, 8, bound)) == {1: 8}
    assert depths(result(1, 9), result(1, 8, EXACT)) == {1: 8}
