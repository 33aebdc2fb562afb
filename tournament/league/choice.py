"""Choice of the next game pairs: those that reduce the rating errors most.

The model is that of the ratings (Bradley and Terry). A normal prior of `PRIOR_ELO` about the mean
of all players gives also a player without games a strength and an error. If p is the expected score
of player i against player j, a pair of their games adds the information ``w = 2 p (1 - p)`` about
the difference of their strengths. The pair changes the covariance C of all strengths by a matrix of
rank one, which reduces the variance of each player k as follows:

    u = C[i] - C[j],  reduction[k] = w u[k]**2 / (1 + w (u[i] - u[j]))

Like the errors of the ratings, C is about the mean of the anchors or, without anchors, about the
mean of all players.

Because the strengths are uncertain, `Field.weight` takes the mean of w over the distribution of
their difference. Therefore a player without games first meets opponents in the middle of the field.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import heapify, heappop, heapreplace
from itertools import combinations, compress, repeat, zip_longest
from operator import gt, mul, sub

from merels.tournament.statistics.elo import ELO_UNIT
from merels.tournament.statistics.graphs import Laplacian, Matrix, about

PRIOR_ELO = 400.0
"""Standard deviation, in Elo, of the strengths of players that have not played."""
GAMES_PER_PAIR = 2
"""Number of games of a pair."""
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
        self._rows = [tuple(row) for row in self._covariance()]
        self.variances = [row[index] for index, row in enumerate(self._rows)]
        """Variance of each strength."""
        self._changes: list[tuple[float, list[float]]] = []
        """Factor and vector of each change of the covariance, in order."""
        self._unchanged = (0.0, [0.0] * size)
        """A change without effect."""
        self._applied = [0] * size
        """Number of changes applied to each row."""

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

    def row(self, player: int) -> tuple[float, ...]:
        """Return the covariance of a player's strength with each strength.

        A row is brought up to date only when it is needed, because most rows seldom are. A single
        change, the most frequent case, takes half the time of four changes in one pass, and that
        takes less time than four passes.
        """
        row, applied = self._rows[player], self._applied[player]
        left = len(self._changes) - applied
        if left == 1:
            factor, change = self._changes[-1]
            row = tuple(map(sub, row, map(mul, change, repeat(factor * change[player]))))
        elif left:
            changes = iter(self._changes[applied:])
            for four in zip_longest(changes, changes, changes, changes, fillvalue=self._unchanged):
                a, b, c, d = (factor * change[player] for factor, change in four)
                first, second, third, fourth = (change for _, change in four)
                row = tuple([
                    own - a * s - b * t - c * u - d * v
                    for own, s, t, u, v in zip(row, first, second, third, fourth)
                ])
        self._rows[player], self._applied[player] = row, len(self._changes)
        return row

    def weight(self, pair: Pair) -> float:
        """Return the expected information of a game pair about its players' difference."""
        return self._weight(pair, self._variance(pair))

    def _variance(self, pair: Pair) -> float:
        """Return the variance of the difference of two players' strengths."""
        i, j = pair
        return max(0.0, self.variances[i] + self.variances[j] - 2 * self.row(i)[j])

    def _weight(self, pair: Pair, variance: float) -> float:
        # The mean of the logistic density over a normal distribution, by MacKay's approximation.
        shrink = 1 / math.sqrt(1 + math.pi * variance / 8)
        first, second = pair
        ahead = self.strengths[first] - self.strengths[second]
        return GAMES_PER_PAIR * shrink * _slope(shrink * ahead)

    def reduction(self, pair: Pair, distance: float) -> float:
        """Return how much a game pair reduces the sum of some players' variances.

        ``distance``: the distance of the pair's rows, of which only the columns of these players
        count.
        """
        variance = self._variance(pair)
        weight = self._weight(pair, variance)
        return weight * distance * distance / (1 + weight * variance)

    def limits(self, players: Collection[int]) -> list[float]:
        """Return the variance of each strength after infinitely many games between ``players``."""
        # Such games join the players to one node.
        node = dict.fromkeys(players, 0)
        others = [player for player in range(self.size) if player not in node]
        node |= {player: number for number, player in enumerate([*others, self.size], bool(node))}
        information = self._information([*self.strengths, 0.0])
        edges, weights = [], []
        for (i, j), weight in zip(self._graph.edges, information):
            if node[i] != node[j]:
                edges.append((node[i], node[j]))
                weights.append(weight)
        graph = Laplacian(node[self.size] + 1, edges)
        graph.weigh(weights)
        origins = [node[origin] for origin in self._origins]
        covariance = about([row[:-1] for row in graph.inverse()[:-1]], origins)
        return [max(0.0, covariance[node[player]][node[player]]) for player in range(self.size)]

    def add(self, pair: Pair) -> None:
        """Add the expected information of a game pair that has not been played yet."""
        i, j = pair
        weight = self.weight(pair)
        change = [own - other for own, other in zip(self.row(i), self.row(j))]
        factor = weight / (1 + weight * (change[i] - change[j]))
        self._changes.append((factor, change))
        self.variances = [
            variance - factor * own * own for variance, own in zip(self.variances, change)
        ]


class Choice:
    """Choice of the next game pairs in a field, among ``players``, without the pairs ``barred``.

    A heap orders the pairs by the reductions that were last computed. Since reductions shrink as
    pairs are added, the top pair is the best one if its reduction is still the same. Therefore few
    reductions are computed for each choice. (A reduction that has grown, because the difference of
    the players is better known, is found only if the pair comes to the top.)
    """

    def __init__(
        self, field: Field, players: Collection[int], barred: Collection[Pair] = ()
    ) -> None:
        self._field = field
        self._players = players
        self.pairs = set(combinations(sorted(players), 2)).difference(barred)
        """The pairs that may be played."""
        self._heap: list[tuple[float, int, int]] = []
        """Reduction and players of each candidate, negated."""
        self._has_all = False
        """Whether the heap was filled with all pairs."""
        self._is_wanted = [False] * field.size
        """Whether the variance of each player counts."""
        self._rows: list[tuple[float, ...]] = [()] * field.size
        """Row of each player from which its `_columns` were taken."""
        self._columns = self._rows[:]

    def next(
        self, count: int, wanted: Collection[int], required: AbstractSet[Pair] = frozenset()
    ) -> list[Pair]:
        """Return the next ``count`` game pairs; fewer if no pair may be played.

        The pairs of ``required`` come first. The pair that most reduces the sum of the variances of
        ``wanted`` is always the next; if ``wanted`` is empty, the variances are those of all
        players that may meet. The chosen pairs are added to the field.
        """
        pairs: list[Pair] = []
        wanted = set(wanted or self._players)
        for _ in range(count):
            left = required - set(pairs) if pairs else required
            best = self._best(left or self.pairs, wanted)
            if best is None:
                break
            pairs.append(best)
            self._field.add(best)
        return pairs

    def _best(self, candidates: Collection[Pair], wanted: Collection[int]) -> Pair | None:
        """Return the best of the candidates, which are `pairs` or required ones."""
        is_wanted = [player in wanted for player in range(self._field.size)]
        if is_wanted != self._is_wanted:
            if any(map(gt, is_wanted, self._is_wanted)):
                self._heap = []
            self._is_wanted, self._rows = is_wanted, [()] * self._field.size
        if self._has_all != (candidates is self.pairs):
            self._heap = []
        while candidates:
            while self._heap:
                _, i, j = top = self._heap[0]
                pair = -i, -j
                if pair not in candidates:
                    heappop(self._heap)
                elif (entry := self._entry(pair)) == top:
                    return pair
                else:
                    heapreplace(self._heap, entry)
            self._heap = list(map(self._entry, candidates))
            heapify(self._heap)
            self._has_all = candidates is self.pairs
        return None

    def _entry(self, pair: Pair) -> tuple[float, int, int]:
        distance = math.dist(*map(self._wanted_columns, pair))
        first, second = pair
        return -self._field.reduction(pair, distance), -first, -second

    def _wanted_columns(self, player: int) -> tuple[float, ...]:
        """Return the covariance of a player's strength with each wanted strength."""
        row = self._field.row(player)
        if row is not self._rows[player]:
            self._rows[player] = row
            self._columns[player] = tuple(compress(row, self._is_wanted))
        return self._columns[player]


def _expected(ahead: float) -> float:
    """Return the expected score of a game at a difference in strength."""
    return 0.5 + 0.5 * math.tanh(0.5 * ahead)


def _slope(ahead: float) -> float:
    """Return the information of a game at a difference in strength."""
    return 0.25 / math.cosh(0.5 * ahead) ** 2
