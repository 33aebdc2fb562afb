"""How measurements spread: a few numbers for many."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Spread(NamedTuple):
    """How a measurement of so many moves spreads; each other figure is one of them, 0 of none."""

    moves: int
    median: int
    p90: int
    """At least 90 % of the measurements are not greater."""
    p99: int
    longest: int


def spread(values: Collection[int]) -> Spread:
    """The spread of some measurements, by nearest rank."""
    ranked, count = sorted(values), len(values)
    if not count:
        return Spread(0, 0, 0, 0, 0)
    median, p90, p99 = (ranked[-(-count * share // 100) - 1] for share in (50, 90, 99))
    return Spread(count, median, p90, p99, ranked[-1])
