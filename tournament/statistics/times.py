"""Order statistics of many measurements in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

TOTAL_KEPT = 1 << 19
"""Number of measurements that all samples may keep together."""
LEAST_KEPT = 1 << 10
"""Number of measurements that each sample may keep, even of many samples."""


class Spread(NamedTuple):
    """Distribution of ``moves`` measurements: order statistics, all 0 without measurements."""

    moves: int
    median: int
    p90: int
    """At least 90 % of the measurements are not greater."""
    p99: int
    longest: int


class Sample:
    """Measurements, thinned evenly if there are too many to keep.

    ``count`` and ``longest`` are exact. Methods that add a measurement beyond 64 bits may raise
    OverflowError.
    """

    __slots__ = ("count", "longest", "values", "_stride")

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0
        self.values = array("q")
        """Measurements whose index is a multiple of the stride."""
        self._stride = 1

    def extend(self, values: Sequence[int], samples: int = 1) -> None:
        """Add measurements; ``samples`` is the number of samples that share `TOTAL_KEPT`."""
        if values:
            stride = self._stride
            self._keep(values if stride == 1 else values[-self.count % stride :: stride], samples)
            self._count_all(values)

    def _keep(self, values: Sequence[int], samples: int) -> None:
        self.values.extend(values)
        if len(self.values) > LEAST_KEPT:
            limit = max(LEAST_KEPT, TOTAL_KEPT // samples)
            while len(self.values) > limit:
                self._halve()

    def _count_all(self, values: Sequence[int]) -> None:
        self.count += len(values)
        longest = max(values)
        if longest > self.longest:
            self.longest = longest

    def spread(self) -> Spread:
        """Return the order statistics, by nearest rank."""
        ranked = sorted(self.values)
        if not ranked:
            return Spread(0, 0, 0, 0, 0)
        count = len(ranked)
        median, p90, p99 = (ranked[-(-count * share // 100) - 1] for share in (50, 90, 99))
        return Spread(self.count, median, p90, p99, self.longest)

    def _halve(self) -> None:
        self.values = self.values[::2]
        self._stride *= 2
