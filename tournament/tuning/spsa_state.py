"""Parameter values of a tune, as a function of the results of its pairs.

The values of pair n depend only on the results of the pairs up to n - 1 - `max_pending`, in order.
Neither the number of parallel games nor an interruption changes them.
"""

from __future__ import annotations

from collections import deque

from merels.tournament.records.settings import Settings
from merels.tournament.tuning.estimate import Result, standard_errors
from merels.tournament.tuning.spsa import Trial, perturbed, updated

PAIRS_PER_PENDING = 50
"""Ratio of the number of pairs of a tune to `max_pending`."""
PLOT_POINTS = 500
"""Least number of points kept for the plots of a tune with at least this number of pairs."""


def max_pending(pairs: int) -> int:
    """Return how many earlier pairs may lack a result when the values of a pair are chosen."""
    return max(1, pairs // PAIRS_PER_PENDING)


class SpsaState:
    """Values of a tune's parameters after each counted pair."""

    def __init__(self, settings: Settings) -> None:
        assert settings.tuning is not None
        self.parameters = settings.tuning.parameters
        self.pairs = settings.rounds
        self.values = [float(parameter.start) for parameter in self.parameters]
        """The values after the last counted pair."""
        self.results: list[Result] = []
        """Results of the counted pairs."""
        self.points: list[tuple[int, list[float]]] = [(0, self.values)]
        """Points of the plots: (number of counted pairs, values after them)."""
        self._schedule = settings.tuning.schedule
        self._seed = settings.seed
        self._pairs_per_point = max(1, self.pairs // PLOT_POINTS)
        self._trials: deque[Trial] = deque()
        """Trials whose results are not counted yet."""
        self._net_wins: deque[int] = deque()
        """Results that are not counted yet."""
        self._pair = 0
        """Number of the last pair whose values were chosen."""

    def next_trial(self) -> Trial:
        """Return the values of the next pair.

        First count the results on which they depend; at most `max_pending` pairs may lack one.
        """
        self._pair += 1
        while len(self.results) < self._pair - 1 - max_pending(self.pairs):
            self._count()
        trial = perturbed(
            self.parameters, self.values, self._schedule, self._pair, self.pairs, self._seed
        )
        self._trials.append(trial)
        return trial

    def add(self, net_wins: int) -> None:
        """Add the result of the next pair in order: the plus side's wins minus its losses."""
        self._net_wins.append(net_wins)

    def count_all(self) -> None:
        """Count all results; do not call `next_trial` afterwards."""
        while self._net_wins:
            self._count()

    def errors(self) -> list[float | None]:
        """Return the standard error of each value; None if the results show no optimum."""
        return standard_errors(self.results, self.values)

    def _count(self) -> None:
        """Count the next result."""
        result = Result(self._trials.popleft(), self._net_wins.popleft())
        self.results.append(result)
        number = len(self.results)
        self.values = updated(
            self.parameters, self.values, self._schedule, number, self.pairs, *result
        )
        if number % self._pairs_per_point == 0 or number == self.pairs:
            self.points.append((number, self.values))
