"""Replacement in a bucket of the transposition table."""

from __future__ import annotations

from merels.engine.core import core
from tests.engine.core.known_values import EXACT, LOWER, NO_MOVE, UPPER

AGE_PENALTY = 8
"""Plies subtracted from an entry's worth for each search started after it was stored."""


def result(
    key: int, depth: int, bound: int = EXACT, search: int = 7, score: int = 5
) -> tuple[int, int, int, int, int, int]:
    return search, key, NO_MOVE, score, depth, bound


def depths(*results: tuple[int, int, int, int, int, int]) -> dict[int, int]:
    """Return the depths in a bucket by key, after storing ``results``."""
    return {key: data >> 36 & 0xFF for key, data in core.bucket_after(results) if data}


FULL_BUCKET = (result(1, 9), result(2, 3), result(3, 6), result(4, 12))


def test_a_bucket_keeps_four_results_exactly() -> None:
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


def test_the_shallowest_entry_of_a_search_is_replaced() -> None:
    assert depths(*FULL_BUCKET, result(5, 1)) == {1: 9, 5: 1, 3: 6, 4: 12}
    assert depths(*FULL_BUCKET, result(5, 1), result(6, 2)) == {1: 9, 6: 2, 3: 6, 4: 12}


def test_a_result_of_an_earlier_search_is_worth_less() -> None:
    def kept(depth: int, age: int) -> bool:
        old = result(8, depth, search=7 - age)
        return 8 in depths(old, *FULL_BUCKET[1:], result(5, 1))

    for age in (1, 2, 3):
        # The shallowest other entry has depth 3; of two equal entries the first is replaced.
        assert kept(4 + age * AGE_PENALTY, age) and not kept(3 + age * AGE_PENALTY, age)
    assert kept(4, 0) and not kept(3, 0)


def test_ages_are_right_when_the_generation_wraps_around() -> None:
    new = [result(key, 3, search=0) for key in (2, 3, 4)]
    assert 8 not in depths(result(8, 3 + AGE_PENALTY, search=255), *new, result(5, 1, search=0))
    assert 8 in depths(result(8, 4 + AGE_PENALTY, search=255), *new, result(5, 1, search=0))


def test_a_position_has_one_entry_which_a_result_of_at_least_its_depth_replaces() -> None:
    for bound in (UPPER, LOWER, EXACT):
        assert depths(*FULL_BUCKET, result(2, 4, bound)) == {1: 9, 2: 4, 3: 6, 4: 12}
        assert depths(*FULL_BUCKET, result(2, 3, bound, score=9)) == {1: 9, 2: 3, 3: 6, 4: 12}
    (_, data), *_ = core.bucket_after([result(1, 3), result(1, 3, UPPER, score=9)])
    assert (data >> 20 & 0xFFFF, data >> 44 & 3) == (9, UPPER)


def test_a_shallower_bound_replaces_only_results_of_earlier_searches() -> None:
    for bound in (UPPER, LOWER):
        assert depths(result(1, 9), result(1, 8, bound)) == {1: 9}
        assert depths(result(1, 9, search=6), result(1, 8, bound)) == {1: 8}
    assert depths(result(1, 9), result(1, 8, EXACT)) == {1: 8}
