"""How measurements spread: a few numbers for many."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

MOST = 1 << 19
"""Measurements that are kept in all, by as many samples as share them."""
LEAST = 1 << 10
"""Measurements that a sample may keep however many share that number."""


class Spread(NamedTuple):
    """Distribution of ``count`` measured moves; the other figures are order statistics, or 0."""

    moves: int
    median: int
    p90: int
    """At least 90 % of the measurements are not greater."""
    p99: int
    longest: int


class Sample:
    """Measurements, evenly thinned where there are too many to keep: their number and the longest
    are exact.

    `OverflowError` for one beyond 64 bits.
    """

    __slots__ = ("count", "longest", "values", "_stride")

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0
        self.values = array("q")
        """Every measurement whose number is a multiple of the stride."""
        self._stride = 1

    def extend(self, values: Sequence[int], samples: int = 1) -> None:
        """Add measurements; ``samples`` share the memory."""
        if values:
            stride = self._stride
            self._take(values if stride == 1 else values[-self.count % stride :: stride], samples)
            self._note(values)

    def _take(self, values: Sequence[int], samples: int) -> None:
        self.values.extend(values)
        if len(self.values) > LEAST:
            self._thin(samples)

    def _note(self, values: Sequence[int]) -> None:
        self.count += len(values)
        longest = max(values)
        if longest > self.longest:
            self.longest = longest

    def merge(self, other: Sample, samples: int = 1) -> None:
        """Add the measurements of another sample."""
        values, stride = other.values, other._stride
        while stride < self._stride:
            values, stride = values[::2], 2 * stride
        while stride > self._stride:
            self._halve()
        self._take(values, samples)
        self.count += other.count
        self.longest = max(self.longest, other.longest)

    def spread(self) -> Spread:
        """The spread of the measurements, by nearest rank."""
        ranked = sorted(self.values)
        if not ranked:
            return Spread(0, 0, 0, 0, 0)
        count = len(ranked)
        median, p90, p99 = (ranked[-(-count * share // 100) - 1] for share in (50, 90, 99))
        return Spread(self.count, median, p90, p99, self.longest)

    def _thin(self, samples: int) -> None:
        room = max(LEAST, MOST // samples)
        while len(self.values) > room:
            self._halve()

    def _halve(self) -> None:
        self.values = self.values[::2]
        self._stride *= 2


class SampleOfLots(Sample):
    """Measurements that come in batches, of which a sample is kept if there are too many.

    Their number and the longest are of those.
    """

    __slots__ = ("_lots",)

    def __init__(self) -> None:
        super().__init__()
        self._lots = 0

    def is_due(self) -> bool:
        """Count a lot; whether it is to be added."""
        self._lots += 1
        return self._lots % self._stride == 0

    def extend(self, values: Sequence[int], samples: int = 1) -> None:
        """Add a lot that is due."""
        if values:
            self._take(values, samples)
            self._note(values)
