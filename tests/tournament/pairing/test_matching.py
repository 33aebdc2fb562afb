"""Maximum matchings, compared with all matchings of small random graphs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Set

import pytest

from merels.tournament.pairing.matching import Matching


def least_exposed(graph: Mapping[int, Set[int]], left: frozenset[int]) -> int:
    """Return the least number of vertices without a mate in any matching of the vertices left."""
    if not left:
        return 0
    first = min(left)
    others = left - {first}
    return min([1 + least_exposed(graph, others),
                *(least_exposed(graph, others - {mate}) for mate in graph[first] & others)])


@pytest.mark.parametrize("seed", range(60))
def test_a_matching_exposes_as_few_vertices_as_possible_while_pairs_are_taken(seed: int) -> None:
    rng = random.Random(seed)
    size, share = rng.randint(2, 10), rng.choice((0.15, 0.3, 0.5, 0.8))
    graph: dict[int, set[int]] = {vertex: set() for vertex in range(size)}
    for first in range(size):
        for second in range(first + 1, size):
            if rng.random() < share:
                graph[first].add(second)
                graph[second].add(first)
    left = frozenset(graph)
    matching = Matching(graph)
    while len(left) > 1:
        assert matching.exposed == least_exposed(graph, left)
        pair = frozenset(rng.sample(sorted(left), 2))
        limit = rng.randint(0, 3)
        is_possible = least_exposed(graph, left - pair) <= limit
        assert matching.take(*pair, limit) == is_possible
        if not is_possible:
            assert matching.exposed == least_exposed(graph, left), "the refused pair is back"
            assert matching.take(*pair, size)
        left -= pair


def test_two_vertices_are_taken_although_their_mates_are_neighbours() -> None:
    edges = {0: {2, 3, 5}, 1: {3, 4}, 2: {0}, 3: {0, 1, 4}, 4: {1, 3}, 5: {0}}
    matching = Matching(edges)
    assert matching.exposed == 2
    assert matching.take(1, 2, 0)
