"""Matchings of minimum cost, compared with all matchings of small random graphs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from merels.tournament.pairing.matching import minimum_matching


def least_cost(costs: Sequence[Mapping[int, int]], left: frozenset[int]) -> int | None:
    """Return the least cost of all perfect matchings of the vertices left, or None."""
    if not left:
        return 0
    first = min(left)
    least = None
    for other in left & costs[first].keys():
        rest = least_cost(costs, left - {first, other})
        if rest is not None and (least is None or rest + costs[first][other] < least):
            least = rest + costs[first][other]
    return least


def random_costs(rng: random.Random, size: int, share: float, highest: int) -> list[dict[int, int]]:
    """Return the costs of a graph in which each edge exists with probability ``share``."""
    costs: list[dict[int, int]] = [{} for _ in range(size)]
    for first in range(size):
        for second in range(first):
            if rng.random() < share:
                costs[first][second] = costs[second][first] = rng.randint(0, highest)
    return costs


@pytest.mark.parametrize("highest", [0, 1, 3, 10, 1000, 10**30])
def test_a_matching_costs_as_little_as_possible(highest: int) -> None:
    for seed in range(80):
        rng = random.Random(f"{seed} {highest}")
        size = rng.randint(0, 10)
        costs = random_costs(rng, size, rng.choice((0.2, 0.4, 0.6, 1)), highest)
        mates, least = minimum_matching(costs), least_cost(costs, frozenset(range(size)))
        if mates is None:
            assert least is None, f"seed {seed}: there is a perfect matching"
            continue
        assert all(mates[mates[vertex]] == vertex for vertex in range(size))
        assert sum(costs[vertex][mates[vertex]] for vertex in range(size)) == 2 * (least or 0)


def test_a_matching_of_nested_blossoms_is_no_worse_after_any_exchange() -> None:
    """The first version lowered the dual values of blossoms, and never ended with 150 vertices."""
    for seed in range(6):
        costs = random_costs(random.Random(seed), 150, 1.0, 10**6)
        mates = minimum_matching(costs)
        assert mates is not None
        for first in range(150):
            for second in range(first):
                if second == mates[first]:
                    continue
                now = costs[first][mates[first]] + costs[second][mates[second]]
                for others in (mates[first], mates[second]), (second, first):
                    exchanged = [(first, second), others] if others[0] != second else [
                        (first, mates[second]), (second, mates[first])]
                    assert sum(costs[i][j] for i, j in exchanged) >= now
