"""Parameter values of a tune, as a function of the results of its pairs.

The values of pair n depend only on the results of the pairs up to n - 1 - `lag`, in order. Neither
the number of parallel games nor an interruption changes them.
"""

from __future__ import annotations

from collections import deque

from merels.tournament.records.settings import Settings
from merels.tournament.tuning.estimate import Result, standard_errors
from merels.tournament.tuning.spsa import Trial, moved, perturbed

PAIRS_PER_LAG = 50
"""Ratio of the number of pairs of a tune to the `lag`."""
PLOT_POINTS = 500
"""Least number of points kept for the plots of a tune with at least this number of pairs."""


def lag(pairs: int) -> int:
    """Return the number of earlier pairs that may be unfinished when a pair is drawn."""
    return max(1, pairs // PAIRS_PER_LAG)


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
        self._drawn: deque[Trial] = deque()
        """Trials whose results are not counted yet."""
        self._won: deque[int] = deque()
        """Results that are not counted yet."""
        self._pair = 0
        """Number of the last pair drawn."""

    def draw(self) -> Trial:
        """Return the values of the next pair; at most `lag` earlier pairs may lack a result."""
        self._pair += 1
        while len(self.results) < self._pair - 1 - lag(self.pairs):
            self._count()
        trial = perturbed(
            self.parameters, self.values, self._schedule, self._pair, self.pairs, self._seed
        )
        self._drawn.append(trial)
        return trial

    def add(self, won: int) -> None:
        """Add the result of the next pair in order: the plus side's wins minus losses."""
        self._won.append(won)

    def count_all(self) -> None:
        """Count all results; do not call `draw` afterwards."""
        while self._won:
            self._count()

    def errors(self) -> list[float | None]:
        """Return the standard error of each value; None if the results show no optimum."""
        return standard_errors(self.results, self.values)

    def _count(self) -> None:
        """Count the next result."""
        result = Result(self._drawn.popleft(), self._won.popleft())
        self.results.append(result)
        number = len(self.results)
        self.values = moved(
            self.parameters, self.values, self._schedule, number, self.pairs, *result
        )
        if number % self._pairs_per_point == 0 or number == self.pairs:
            self.points.append((number, self.values))
