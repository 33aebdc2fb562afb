"""Maximum-likelihood ratings of many engines from the scores of their games.

The model is Bradley and Terry's: the expected score of a game is the logistic function of the
difference in Elo. A draw is half a win and half a loss. Errors are the sandwich estimate (Huber;
White), clustered by opening pair. They hold although draws make games less variable than the model
assumes, and although the two games of an opening are not independent.

Where results vary little, errors and superiority include the prior of a match
(`merels.tournament.statistics.elo`): one pair with two decisive games between equals. The prior of
a pairing is weighted by the pairing's leverage: the degree to which only its own games determine
the difference of its engines. The leverage is 1 if no other games connect them, and near 0 in a
large field. The weight falls as the results of the pairing, and of other games of its engines,
become more varied. The ratings themselves do not include the prior.

Engines that are not connected by games, directly or through others, cannot be compared. Each
connected group is rated separately. Its anchors fix its zero; without anchors its mean is 0. If an
engine or a set of engines took every point, or none, from the rest of its group, no finite rating
fits. Then each pairing across that divide gets one virtual draw, and the group reports their
number.

The likelihood is maximized by Newton's method. Each step is solved by conjugate gradients, whose
iterations take time linear in the number of pairings. Errors are exact in groups of up to
`MAX_EXACT` engines. In larger groups they are means over random signs of the clusters, as in the
wild bootstrap.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import tanh
from operator import add, mul
from statistics import fmean

from merels.engine.common.errors import required, shown
from merels.engine.common.numbers import real_number
from merels.tournament.statistics.counts import Counts, MatchCounts, Tally, check_counts
from merels.tournament.statistics.elo import (
    ELO_UNIT,
    FEW_GAMES,
    Z95,
    prior_weight,
    superiority,
)
from merels.tournament.statistics.graphs import (
    Laplacian,
    Matrix,
    about,
    components,
    sandwich,
)

MAX_EXACT = 200
"""Largest group with exact errors, and largest table of superiority, in engines."""
MAX_ANCHOR = 1e6
"""Largest Elo of an anchor."""
SIGNS, LEVERAGE_SIGNS = 32, 8
"""Random sign vectors for the errors of a larger group, and for its leverages."""
ROUGH_TOLERANCE = 1e-3
"""Relative tolerance of the solutions for these random vectors."""
FIRST_TOLERANCE = 1e-2
"""Tolerance of the first Newton step; later steps are solved more precisely as they shrink."""
MAX_STEPS = 100
SETTLED = 1e-13
"""Error after a Newton step, in natural units, at which the iteration ends."""


@dataclass(frozen=True, slots=True)
class PlayerRating(Tally):
    """Rating of an engine, with its wins, draws and losses."""

    name: str
    elo: float
    error: float
    """Half the 95 % interval in Elo, about the anchors' mean, or the group's without anchors."""
    group: int
    """Index in ``Ratings.groups``."""
    wins: int
    draws: int
    losses: int

    @property
    def too_few(self) -> bool:
        """Whether there are too few games to draw conclusions from the rating."""
        return self.games < FEW_GAMES


@dataclass(frozen=True, slots=True)
class RatingGroup:
    """Engines connected by games; ratings of different groups are not comparable."""

    names: tuple[str, ...]
    """Strongest first."""
    virtual_draws: int
    """Virtual draws, one per pairing across a divide; 0 if all ratings are finite without them."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Rating list: ``players`` by group, the largest first, and by strength within a group."""

    players: tuple[PlayerRating, ...]
    groups: tuple[RatingGroup, ...]
    superiority: tuple[tuple[float | None, ...], ...]
    """Probability that the row's player is stronger than the column's, in the order of ``players``.

    A cell is None on the diagonal and between groups. The table is empty for more than
    `MAX_EXACT` players."""
    anchors: Mapping[str, float]


@dataclass(slots=True)
class _Games:
    """Games of a connected group by pairing, seen from the first engine of each pairing."""

    graph: Laplacian
    counts: list[MatchCounts]
    games: list[float]
    points: list[float]

    def add_draws(self, numbers: Sequence[float]) -> None:
        """Add draws to each pairing; fractions are allowed. ``counts`` stays unchanged."""
        self.games = list(map(add, self.games, numbers))
        self.points = [points + number / 2 for points, number in zip(self.points, numbers)]

    def expected(self, strengths: Sequence[float]) -> list[float]:
        """Return the expected score of a game of each pairing."""
        return [0.5 + 0.5 * tanh(0.5 * ahead) for ahead in self.graph.differences(strengths)]

    def information(self, expected: Sequence[float]) -> list[float]:
        """Return the Fisher information of each pairing about its difference in strength."""
        return [games * score * (1 - score) for games, score in zip(self.games, expected)]


def rate(matches: Counts, anchors: Mapping[str, float] | None = None) -> Ratings:
    """Return the ratings of all engines in ``matches``.

    In each group with ``anchors`` (engines and their known Elo), the mean rating of its anchors
    equals the mean of these Elo. Other groups have mean 0. Errors are about the mean of the group's
    anchors, or of the whole group, so that a group's only anchor has error 0. A game outside an
    opening pair is a cluster of its own. Raises ValueError if an anchor played no game, and for
    arguments of another type.
    """
    check_counts(matches)
    anchors = dict(required({} if anchors is None else anchors, Mapping, "Elo by engine"))
    for name, elo in anchors.items():
        real_number(elo, -MAX_ANCHOR, MAX_ANCHOR, f"anchor {shown(name)}")
    index: dict[str, int] = {}
    for name in chain.from_iterable(matches):
        index.setdefault(name, len(index))
    names = list(index)
    for name in anchors:
        if name not in index:
            raise ValueError(f"the anchor {name!r} played no rated game; name an engine that did")
    all_edges = [(index[first], index[second]) for first, second in matches]
    groups = components(len(names), [*all_edges, *((second, first) for first, second in all_edges)])
    group_of = {player: number for number, group in enumerate(groups) for player in group}
    index_in_group = {player: k for group in groups for k, player in enumerate(group)}
    group_edges: list[list[tuple[int, int]]] = [[] for _ in groups]
    group_counts: list[list[MatchCounts]] = [[] for _ in groups]
    for (first, second), counts in zip(all_edges, matches.values()):
        group_edges[group_of[first]].append((index_in_group[first], index_in_group[second]))
        group_counts[group_of[first]].append(counts)
    rated = []
    for members, edges, played in zip(groups, group_edges, group_counts):
        origins = [k for k, player in enumerate(members) if names[player] in anchors]
        elo = fmean([anchors[names[members[k]]] for k in origins] or [0.0])
        games = _Games(
            Laplacian(len(members), edges), played,
            [counts.games for counts in played], [counts.points for counts in played],
        )
        rated.append(_rate_group(members, games, origins, elo))
    rated.sort(key=lambda group: -len(group.members))
    records = _records(len(names), index, matches)
    players: list[PlayerRating] = []
    for number, group in enumerate(rated):
        for i, elo, error in zip(group.members, group.elos, group.errors):
            players.append(PlayerRating(names[i], elo, error, number, *records[i]))
    return Ratings(
        tuple(players),
        tuple(RatingGroup(tuple(names[i] for i in group.members), group.virtual_draws)
              for group in rated),
        _superiority(rated),
        anchors,
    )


def _records(size: int, index: dict[str, int], matches: Counts) -> list[tuple[int, int, int]]:
    """Return each player's wins, draws and losses over all matches."""
    records = [(0, 0, 0)] * size
    for (first, second), counts in matches.items():
        for player, won, lost in (
            (index[first], counts.wins, counts.losses), (index[second], counts.losses, counts.wins)
        ):
            wins, draws, losses = records[player]
            records[player] = wins + won, draws + counts.draws, losses + lost
    return records


@dataclass(slots=True)
class _RatedGroup:
    """Ratings of one group; all lists are in the order of ``members``, the strongest first."""

    members: list[int]
    """Indices of the engines in the whole list."""
    virtual_draws: int
    elos: list[float]
    errors: list[float]
    elos_with_prior: list[float]
    """Elos that include the prior; the superiority is computed from them."""
    covariance: Matrix
    """Covariance of the Elos; empty in a large group."""


def _rate_group(
    members: list[int], games: _Games, origins: Sequence[int], elo: float
) -> _RatedGroup:
    """Rate a connected group.

    ``elo`` is the mean rating of the members with the indices ``origins``, or of all if empty.
    """
    size, graph = len(members), games.graph
    virtual = _one_sided(games)
    games.add_draws(virtual)
    strengths = _solve(games, [0.0] * size)
    information = games.information(games.expected(strengths))
    graph.weigh(information)
    is_small = size <= MAX_EXACT
    find_leverages = _exact_leverages if is_small else _leverages
    weights = _prior_weights(games, find_leverages(graph, information))
    with_prior = strengths
    if any(weights):
        # A virtual draw counts as one of the two drawn games that stand for the prior.
        games.add_draws([weight * (2 - is_virtual) for weight, is_virtual in zip(weights, virtual)])
        with_prior = _solve(games, strengths)
    expected = games.expected(with_prior)
    spreads = list(map(_spread, games.counts, expected, weights))
    graph.weigh(games.information(expected))
    covariance: Matrix = []
    if is_small:
        covariance = about(sandwich(graph.inverse(), graph.edges, spreads), origins)
        variances = [covariance[k][k] for k in range(size)]
    else:
        variances = _variances(graph, spreads, origins)
    elos, elos_with_prior = (_as_elo(values, origins, elo) for values in (strengths, with_prior))
    errors = [
        Z95 * ELO_UNIT * math.sqrt(max(0.0, variance)) + abs(plain - shifted)
        for variance, plain, shifted in zip(variances, elos, elos_with_prior)
    ]
    order = sorted(range(size), key=lambda k: (-elos[k], members[k]))
    return _RatedGroup(
        members=[members[k] for k in order],
        virtual_draws=sum(virtual),
        elos=[elos[k] for k in order],
        errors=[errors[k] for k in order],
        elos_with_prior=[elos_with_prior[k] for k in order],
        covariance=[[ELO_UNIT**2 * covariance[i][j] for j in order] for i in order]
        if covariance else [],
    )


def _as_elo(strengths: Sequence[float], origins: Sequence[int], elo: float) -> list[float]:
    """Return strengths of mean 0 as Elo; ``elo`` is the mean of ``origins``, or of all if empty."""
    zero = fmean([strengths[origin] for origin in origins] or [0.0])
    return [elo + ELO_UNIT * (strength - zero) for strength in strengths]


def _spread(counts: MatchCounts, expected: float, weight: float) -> float:
    """Return the sum of the squared residuals, in points, of a pairing's clusters.

    It includes ``weight`` of the prior, and the factor by which the prior reduces the variance.
    """
    unpaired, pairs = counts.unpaired, counts.pentanomial
    residuals = sum(
        count * (points / 2 - games * expected) ** 2
        for games, cells in ((1, unpaired), (2, pairs))
        for points, count in enumerate(cells) if count
    )
    clusters = sum(unpaired) + sum(pairs) + weight
    prior = weight * (0.5 + (1 - 2 * expected) ** 2)
    return (residuals + prior) * clusters / (clusters + weight)


def _solve(games: _Games, strengths: list[float]) -> list[float]:
    """Return the most likely strengths in natural units, with mean 0, by damped Newton steps."""
    graph, tolerance = games.graph, FIRST_TOLERANCE
    for _ in range(MAX_STEPS):
        expected = games.expected(strengths)
        excess = [
            points - count * score
            for points, count, score in zip(games.points, games.games, expected)
        ]
        graph.weigh(games.information(expected))
        step = graph.solve(graph.gather(excess), tolerance)
        # The curvature of the logistic likelihood changes at most e-fold per unit of a difference.
        # This damping follows from that bound: every step improves the likelihood.
        widest = max(step) - min(step)
        if not widest:
            break
        scale = math.log1p(widest) / widest
        strengths = [s + scale * d for s, d in zip(strengths, step)]
        # The error after a step is of the order of its square, plus the unsolved part of the step.
        if widest * max(widest, tolerance) < SETTLED:
            break
        tolerance = min(FIRST_TOLERANCE, max(SETTLED, widest / 10))
    mean = sum(strengths) / len(strengths)
    return [s - mean for s in strengths]


def _exact_leverages(graph: Laplacian, information: Sequence[float]) -> list[float]:
    """Return the leverage of each pairing, from 0 to 1.

    It is the degree to which only the pairing's own games determine the difference of its engines.
    """
    inverse = graph.inverse()
    return [
        weight * (inverse[i][i] + inverse[j][j] - 2 * inverse[i][j])
        for weight, (i, j) in zip(information, graph.edges)
    ]


def _leverages(graph: Laplacian, information: Sequence[float]) -> list[float]:
    """Return estimates of `_exact_leverages` from random signs (Spielman and Srivastava).

    They are exact for bridges of the graph.
    """
    sample = _sampler(graph, information)
    sums = [0.0] * len(graph.edges)
    for _ in range(LEVERAGE_SIGNS):
        ahead = graph.differences(graph.solve(sample(), ROUGH_TOLERANCE))
        sums = list(map(add, sums, map(mul, ahead, ahead)))
    return [min(1.0, weight * total / LEVERAGE_SIGNS) for weight, total in zip(information, sums)]


def _prior_weights(games: _Games, leverages: Sequence[float]) -> list[float]:
    """Return the weight of the prior of each pairing."""
    cells = [[0] * 8 for _ in range(games.graph.size)]
    own = [(*counts.unpaired, *counts.pentanomial) for counts in games.counts]
    for (first, second), counts in zip(games.graph.edges, own):
        cells[first] = list(map(add, cells[first], counts))
        cells[second] = list(map(add, cells[second], (*counts[2::-1], *counts[:2:-1])))
    engine_spread = list(map(_outside_fullest, cells))
    return [
        leverage * prior_weight(
            _outside_fullest(counts) + (1 - leverage) * min(
                engine_spread[first], engine_spread[second]
            )
        )
        for leverage, counts, (first, second) in zip(leverages, own, games.graph.edges)
    ]


def _outside_fullest(cells: Sequence[int]) -> float:
    """Return the number of clusters outside the fullest cells of games and of pairs."""
    return sum(cells) - max(cells[:3]) - max(cells[3:])


def _sampler(graph: Laplacian, spreads: Sequence[float]) -> Callable[[], list[float]]:
    """Return a sampler of random vectors whose covariance is the Laplacian weighted by ``spreads``.

    Each vector is the sum of all edges, each multiplied by the root of its spread and a random
    sign. Every sampler uses the same sequence of signs, so equal games give equal errors.
    """
    roots = list(map(math.sqrt, spreads))
    chance = random.Random(1)

    def sample() -> list[float]:
        signs = f"{chance.getrandbits(len(roots)):0{len(roots)}b}"
        return graph.gather([root if sign == "1" else -root for root, sign in zip(roots, signs)])

    return sample


def _variances(
    graph: Laplacian, spreads: Sequence[float], origins: Sequence[int]
) -> list[float]:
    """Return estimates of the strengths' variances about their mean, or about that of ``origins``.

    They are means over random signs. The part that comes from an engine's own games is computed
    exactly and left out of the means, which reduces their noise.
    """
    degrees = graph.diagonal
    meat = Laplacian(graph.size, graph.edges)
    meat.weigh(spreads)
    own = [spread / degree**2 for spread, degree in zip(meat.diagonal, degrees)]
    if origins:
        # Covariances of each own part with the mean of the origins' own parts.
        share, shared = 1 / len(origins), [0.0] * graph.size
        is_origin = [False] * graph.size
        for origin in origins:
            is_origin[origin] = True
            shared[origin] = share * own[origin]
        for (i, j), spread in zip(graph.edges, spreads):
            common = share * spread / (degrees[i] * degrees[j])
            shared[i] -= common * is_origin[j]
            shared[j] -= common * is_origin[i]
        zero = fmean([shared[origin] for origin in origins])
        own = [variance - 2 * common + zero for variance, common in zip(own, shared)]
    sample = _sampler(graph, spreads)
    sums = [0.0] * graph.size
    for _ in range(SIGNS):
        right = sample()
        x = graph.solve(right, ROUGH_TOLERANCE)
        x0 = [value / degree for value, degree in zip(right, degrees)]
        if origins:
            x, x0 = (
                [value - zero for value in vector] for vector in (x, x0)
                for zero in [fmean([vector[origin] for origin in origins])]
            )
        sums = [total + a * a - b * b for total, a, b in zip(sums, x, x0)]
    return [
        # Noise may push the estimate to 0 or below; half of the exact part is its lower limit.
        max(exact / 2, exact + total / SIGNS) for exact, total in zip(own, sums)
    ]


def _superiority(groups: Sequence[_RatedGroup]) -> tuple[tuple[float | None, ...], ...]:
    """Return the matrix of ``Ratings.superiority``, with one block per group on its diagonal."""
    size = sum(len(group.members) for group in groups)
    if size > MAX_EXACT:
        return ()
    table: list[list[float | None]] = [[None] * size for _ in range(size)]
    start = 0
    for group in groups:
        c = group.covariance
        for i, elo in enumerate(group.elos_with_prior):
            for j, other in enumerate(group.elos_with_prior):
                if i != j:
                    error = math.sqrt(max(0.0, c[i][i] + c[j][j] - 2 * c[i][j]))
                    table[start + i][start + j] = superiority(elo - other, error)
        start += len(group.members)
    return tuple(map(tuple, table))


def _one_sided(games: _Games) -> list[int]:
    """Return 1 for each pairing across a divide, where one side took all points; 0 for others.

    By Ford's condition, finite ratings exist if no pairing crosses a divide.
    """
    scored = []
    for (first, second), points, count in zip(games.graph.edges, games.points, games.games):
        if points > 0:
            scored.append((first, second))
        if points < count:
            scored.append((second, first))
    groups = components(games.graph.size, scored)
    group_of = {player: number for number, group in enumerate(groups) for player in group}
    return [int(group_of[first] != group_of[second]) for first, second in games.graph.edges]
