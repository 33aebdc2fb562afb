"""Replacement in a bucket of the transposition table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from merels.engine.core.convert import core_moves
from tests.engine.core.known_values import (
    EXACT,
    LOWER,
    QUIET,
    UPPER,
    Entry,
    Search,
    after,
    count_men,
    key_of,
    positions,
)

pytestmark = pytest.mark.usefixtures("equal_positions")
AGE_PENALTY = 8
"""Plies subtracted from an entry's worth for each search started after it was stored."""
FIRST_MOVE, SECOND_MOVE = core_moves(QUIET)[:2]
REFUTED = after(QUIET, SECOND_MOVE)
"""A position that a search of `QUIET` stores with a lower bound."""


def kept(others: Sequence[tuple[int, int]], generation: int = 7) -> list[int]:
    """Return which of four entries of other positions stay in the bucket of a new result.

    Each has a depth and a generation; the new result has depth 1.
    """
    search = Search()
    for _ in range(generation):
        search.table.new_search()
    for key, place, (depth, stored) in zip(range(1, 5), search.places(QUIET), others, strict=True):
        data = depth << 36 | EXACT << 44 | stored << 46
        search.entries[place] = key ^ data, data
    search.run(QUIET, 1)
    assert search.get(QUIET) is not None
    bucket = [search.entries[place] for place in search.places(QUIET)]
    return [key for key in range(1, 5) if any(check ^ data == key for check, data in bucket)]


@pytest.mark.parametrize("generation", [0, 255, 256 + 3])
def test_a_result_has_the_generation_of_its_search(generation: int) -> None:
    search = Search()
    for _ in range(generation):
        search.table.new_search()
    search.run(QUIET, 1)
    [data] = [data for _, data in search.entries if data]
    assert data >> 46 == generation % 256


def test_an_empty_entry_is_used_first() -> None:
    search = Search()
    for place in search.places(QUIET)[:3]:
        search.entries[place] = place ^ 1, 1
    search.run(QUIET, 1)
    assert all(search.entries[place][1] == 1 for place in search.places(QUIET)[:3])
    assert search.get(QUIET) is not None


def test_the_entry_of_the_position_is_used_before_others() -> None:
    search, other = Search(), EXACT << 44
    *others, own = search.places(QUIET)
    for place in others:
        search.entries[place] = place ^ other, other
    search.entries[own] = key_of(QUIET) ^ other, other
    search.run(QUIET, 1)
    assert all(search.entries[place][1] == other for place in others)
    entry = search.get(QUIET)
    assert entry is not None and entry.depth == 1


@pytest.mark.parametrize("shallowest", range(4))
def test_the_shallowest_entry_of_a_search_is_replaced(shallowest: int) -> None:
    depths = [9, 6, 12, 4]
    depths[shallowest] = 3
    assert kept([(depth, 7) for depth in depths]) == [
        key for key in range(1, 5) if key != shallowest + 1
    ]


@pytest.mark.parametrize("age", [0, 1, 2, 3])
def test_a_result_of_an_earlier_search_is_worth_less(age: int) -> None:
    """The shallowest other entry has depth 3; of two equal entries the first is replaced."""
    others, depth = [(3, 7), (6, 7), (12, 7)], 3 + age * AGE_PENALTY
    assert kept([(depth + 1, 7 - age), *others]) == [1, 3, 4]
    assert kept([(depth, 7 - age), *others]) == [2, 3, 4]


def test_ages_are_right_when_the_generation_wraps_around() -> None:
    others = [(3, 0), (3, 0), (3, 0)]
    assert kept([(3 + AGE_PENALTY, 255), *others], generation=256) == [2, 3, 4]
    assert kept([(4 + AGE_PENALTY, 255), *others], generation=256) == [1, 3, 4]


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_a_shallower_bound_replaces_only_results_of_earlier_searches(depth: int) -> None:
    for searches in (0, 1):
        search = Search()
        search.put(REFUTED, Entry(500, depth, UPPER))
        for _ in range(searches):
            search.table.new_search()
        search.run(QUIET, 2, [FIRST_MOVE, SECOND_MOVE])
        entry = search.get(REFUTED)
        assert entry is not None
        stays = depth > 1 and not searches
        assert entry[:3] == ((500, depth, UPPER) if stays else (0, 1, LOWER))


@pytest.mark.parametrize("own, opponent, sign", [(8, 5, 1), (5, 8, -1)])
def test_a_result_has_the_score_of_its_search(own: int, opponent: int, sign: int) -> None:
    count_men(400)
    position, search = next(positions(1, own, opponent)), Search()
    score = search.run(position, 1).score
    entry = search.get(position)
    assert sign * score > 0 and entry is not None and entry[:3] == (score, 1, EXACT)


@pytest.mark.parametrize("bound", [UPPER, LOWER, EXACT])
def test_an_exact_result_replaces_a_deeper_one_of_its_position(bound: int) -> None:
    search = Search()
    search.put(QUIET, Entry(500, 9, bound))
    search.run(QUIET, 1)
    entry = search.get(QUIET)
    assert entry is not None and entry[:3] == (0, 1, EXACT)
    assert sum(data != 0 for _, data in search.entries) == 1
