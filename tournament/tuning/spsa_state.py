"""The way of the parameters through a tune, as it follows from the results of its pairs.

The values for a pair depend on the results of all pairs up to `lag` before it, in their order, and
on nothing else: not on how many pairs are played at once, nor on whether the run was interrupted.
"""

from __future__ import annotations

from collections import deque

from merels.tournament.records.settings import Settings
from merels.tournament.tuning.estimate import Result, standard_errors
from merels.tournament.tuning.spsa import Trial, moved, perturbed

LAG_SHARE = 50
DRAWN_POINTS = 500
"""About how many points of the course are kept for its plot."""


def lag(pairs: int) -> int:
    """How many pairs may be open at once: a share of all, too few to slow the tune down."""
    return max(1, pairs // LAG_SHARE)


class SpsaState:
    """The values of a tune's parameters, from the start to the last pair counted."""

    def __init__(self, settings: Settings) -> None:
        assert settings.tuning is not None
        self.parameters = settings.tuning.parameters
        self.pairs = settings.rounds
        self.values = [float(parameter.start) for parameter in self.parameters]
        """As they are after the pairs that count so far."""
        self.results: list[Result] = []
        """Of the pairs that count so far."""
        self.points: list[tuple[int, list[float]]] = [(0, self.values)]
        """Values after so many pairs, at regular distances."""
        self._schedule = settings.tuning.schedule
        self._seed = settings.seed
        self._every = max(1, self.pairs // DRAWN_POINTS)
        self._drawn: deque[Trial] = deque()
        """Of the pairs drawn up whose results do not count yet."""
        self._won: deque[int] = deque()
        """Results that do not count yet."""
        self._number = 0

    def draw(self) -> Trial:
        """The next pair, whose number is one more than that of the last."""
        self._number += 1
        while len(self.results) < self._number - 1 - lag(self.pairs):
            self._count()
        trial = perturbed(
            self.parameters, self.values, self._schedule, self._number, self.pairs, self._seed
        )
        self._drawn.append(trial)
        return trial

    def add(self, won: int) -> None:
        """Take the result of the next pair: how many games more its plus side won than it lost."""
        self._won.append(won)

    def count_all(self) -> None:
        """Let all results count that have come: nothing more is drawn up."""
        while self._won:
            self._count()

    def errors(self) -> list[float | None]:
        """The standard error of each value; None where the results show no best one."""
        return standard_errors(self.results, self.values)

    def _count(self) -> None:
        """Let the next result count."""
        result = Result(self._drawn.popleft(), self._won.popleft())
        self.results.append(result)
        number = len(self.results)
        self.values = moved(
            self.parameters, self.values, self._schedule, number, self.pairs, *result
        )
        if number % self._every == 0 or number == self.pairs:
            self.points.append((number, self.values))
