"""Choice of the next game pairs: those that reduce the rating errors most.

The model is that of the ratings (Bradley and Terry) with a normal prior of `PRIOR_ELO` about the
mean of all players, so that a player without games also has a strength and an error. A game pair
of players i and j adds the information ``w = 2 p (1 - p)`` about the difference of their strengths,
where p is the expected score. This changes the covariance C of all strengths by a matrix of rank
one, which reduces the variance of each player k as follows:

    u = C[i] - C[j],  reduction[k] = w u[k]**2 / (1 + w (u[i] - u[j]))

Like the errors of the ratings, C is about the mean of the anchors or, without anchors, about the
mean of all players.

Because the strengths are uncertain, `Field.weight` takes the mean of w over the distribution of
their difference. Therefore a player without games first meets opponents in the middle of the field.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from itertools import combinations
from operator import mul, sub

from merels.tournament.statistics.elo import ELO_UNIT
from merels.tournament.statistics.graphs import Laplacian, Matrix, about

PRIOR_ELO = 400.0
"""Standard deviation, in Elo, of the strengths of players that have not played."""
GAMES_PER_PAIR = 2
"""Number of games of a pair."""
ENDLESS = 1e9
"""Information that stands for infinitely many games between two players."""
MAX_STEPS = 50
"""Largest number of Newton steps."""
SETTLED = 1e-6
"""Length of a Newton step, in natural units, at which the iteration ends."""

Pair = tuple[int, int]
"""Indices of two players, the lower one first."""


class Field:
    """Strengths of players and their covariance, in natural units (`ELO_UNIT` Elo).

    ``games`` and ``points`` give, for each pair, the number of games played and the points of the
    pair's first player. The covariance is about the mean of the players ``origins``, or of all.
    """

    def __init__(
        self, size: int, games: Mapping[Pair, int], points: Mapping[Pair, float],
        origins: Sequence[int] = (),
    ) -> None:
        self.size = size
        self._origins = origins or range(size)
        # The prior is an edge from every player to an extra node for the mean of the field.
        self._graph = Laplacian(size + 1, [*games, *((player, size) for player in range(size))])
        self._games = list(games.values())
        self._points = [points[pair] for pair in games]
        self._prior = [(ELO_UNIT / PRIOR_ELO) ** 2] * size
        self.strengths = self._solve()
        self.covariance = self._covariance()

    def _information(self, strengths: Sequence[float]) -> list[float]:
        """Return the information of each edge of the graph about its difference."""
        ahead = self._graph.differences(strengths)
        played = [
            games * _slope(difference) for games, difference in zip(self._games, ahead)
        ]
        return [*played, *self._prior]

    def _solve(self) -> list[float]:
        """Return the most likely strengths, with mean 0, by damped Newton steps."""
        graph, strengths = self._graph, [0.0] * (self.size + 1)
        for _ in range(MAX_STEPS):
            ahead = graph.differences(strengths)
            excess = [
                points - games * _expected(difference)
                for games, points, difference in zip(self._games, self._points, ahead)
            ]
            pull = [
                -weight * difference
                for weight, difference in zip(self._prior, ahead[len(self._games):])
            ]
            graph.weigh(self._information(strengths))
            step = graph.solve(graph.gather([*excess, *pull]), SETTLED)
            # Damped as in the ratings: the curvature changes at most e-fold per unit of difference.
            widest = max(step) - min(step)
            if widest < SETTLED:
                break
            scale = math.log1p(widest) / widest
            strengths = [value + scale * change for value, change in zip(strengths, step)]
        mean = sum(strengths[:-1]) / self.size
        return [value - mean for value in strengths[:-1]]

    def _covariance(self) -> Matrix:
        """Return the covariance of the differences from the mean of the origins."""
        self._graph.weigh(self._information([*self.strengths, 0.0]))
        return about([row[:-1] for row in self._graph.inverse()[:-1]], self._origins)

    def weight(self, pair: Pair) -> float:
        """Return the expected information of a game pair about its players' difference."""
        i, j = pair
        row, other = self.covariance[i], self.covariance[j]
        variance = row[i] + other[j] - 2 * row[j]
        # The mean of the logistic density over a normal distribution, by MacKay's approximation.
        shrink = 1 / math.sqrt(1 + math.pi * max(0.0, variance) / 8)
        return GAMES_PER_PAIR * shrink * _slope(shrink * (self.strengths[i] - self.strengths[j]))

    def add(self, pair: Pair) -> None:
        """Add the expected information of a game pair that has not been played yet."""
        self._add(pair, self.weight(pair))

    def limits(self, players: Sequence[int]) -> list[float]:
        """Return the variance of each strength after infinitely many games between ``players``."""
        limit = copy(self)
        for other in players[1:]:
            limit._add((players[0], other), ENDLESS)
        return [max(0.0, row[index]) for index, row in enumerate(limit.covariance)]

    def _add(self, pair: Pair, weight: float) -> None:
        """Add information about the difference of two players."""
        i, j = pair
        covariance = self.covariance
        change = list(map(sub, covariance[i], covariance[j]))
        factor = weight / (1 + weight * (change[i] - change[j]))
        self.covariance = [
            list(map(sub, row, map((factor * own).__mul__, change)))
            for row, own in zip(covariance, change)
        ]


def choose(
    field: Field, count: int, wanted: Collection[int], may_meet: Collection[int],
    below_floor: Collection[Pair] = (),
) -> list[Pair]:  # fmt: skip
    """Return the next ``count`` game pairs; fewer if fewer than two players may meet.

    The pairs of ``below_floor`` come first, then any pairs of players in ``may_meet``. The pair
    that most reduces the sum of the variances of ``wanted`` is always the next; if ``wanted`` is
    empty, the variances are those of ``may_meet``. The chosen pairs are added to ``field``.
    """
    pairs: list[Pair] = []
    required = set(below_floor)
    players = sorted(may_meet)
    for _ in range(count):
        candidates = required or list(combinations(players, 2))
        products = _products(field.covariance, wanted or players)
        best = max(
            candidates, key=lambda pair: (_reduction(field, products, pair), pair), default=None
        )
        if best is None:
            break
        required.discard(best)
        pairs.append(best)
        field.add(best)
    return pairs


def _products(covariance: Matrix, wanted: Collection[int]) -> Matrix:
    """Return the inner products of the covariance's columns, over the rows of ``wanted``."""
    rows = [covariance[player] for player in wanted]
    columns = list(zip(*rows))
    return [[sum(map(mul, column, other)) for other in columns] for column in columns]


def _reduction(field: Field, products: Matrix, pair: Pair) -> float:
    """Return how much a game pair reduces the sum of the wanted variances."""
    i, j = pair
    covariance, weight = field.covariance, field.weight(pair)
    variance = covariance[i][i] + covariance[j][j] - 2 * covariance[i][j]
    length = products[i][i] + products[j][j] - 2 * products[i][j]
    return weight * length / (1 + weight * variance)


def _expected(ahead: float) -> float:
    """Return the expected score of a game at a difference in strength."""
    return 0.5 + 0.5 * math.tanh(0.5 * ahead)


def _slope(ahead: float) -> float:
    """Return the information of a game at a difference in strength."""
    score = _expected(ahead)
    return score * (1 - score)
