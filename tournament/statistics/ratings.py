"""Maximum-likelihood ratings of many engines from the scores of their games.

The model is Bradley and Terry's: the expected score of a game is the logistic function of the
difference in Elo. A draw is half a win and half a loss. Errors are the sandwich estimate (Huber;
White), clustered by opening pair: they hold although draws make games less variable than the model
assumes, and although the two games of an opening are not independent.

Where few clusters show the spread of results, errors and superiority count the same prior as those
of a match (`merels.tournament.statistics.elo`): one more pair, of two decisive games between
equals. The share that a pairing gets is its leverage, which is how far only its games determine
the difference of its engines: 1 where nothing else connects them, next to nothing in a large field.
It fades with the spread that the pairing, and the other games of its engines, show. The ratings
themselves are without the prior.

Engines that no games connect, even through others, cannot be compared: each connected group is
rated separately, with mean 0 unless it holds the anchor. An engine or a set of engines that took
every point, or none, from the rest of its group has no finite rating; then each pairing across that
divide gets one virtual draw, and the group has their number.

The likelihood is solved by Newton's steps, each by conjugate gradients, in time by the number of
pairings. Errors are exact in groups of up to `MOST_EXACT` engines. In larger ones they are means
over random signs of the clusters (as in the wild bootstrap), each solved in the same way.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import tanh
from operator import add, mul

from merels.tournament.statistics.counts import Counts, MatchCounts, Tally
from merels.tournament.statistics.elo import (
    ELO_UNIT,
    FEW_GAMES,
    Z95,
    prior_share,
    superiority,
)
from merels.tournament.statistics.graphs import Laplacian, Matrix, components, sandwich

MOST_EXACT = 200
"""Engines of the largest group whose errors are exact, and of the largest table of superiority."""
SIGNS, LEVERAGE_SIGNS = 32, 8
"""Random draws behind the errors of a larger group, and behind its leverages."""
ROUGH = 1e-3
"""The precision of the solutions behind those."""
FIRST = 1e-2
"""The precision of the first Newton step; each is found as precisely as the last was short."""
MAX_STEPS = 100
SETTLED = 1e-13
"""The error after a Newton step, in natural units, at which the ratings are found."""


@dataclass(frozen=True, slots=True)
class PlayerRating(Tally):
    """One engine's rating and the games behind it."""

    name: str
    elo: float
    error: float
    """Half the 95 % interval in Elo: about the group's mean, or about the anchor, whose own is 0.
    """
    group: int
    """The index of its group in ``Ratings.groups``."""
    wins: int
    draws: int
    losses: int

    @property
    def too_few(self) -> bool:
        """Whether it has too few games to conclude anything from its rating."""
        return self.games < FEW_GAMES


@dataclass(frozen=True, slots=True)
class RatingGroup:
    """Engines connected by games; ratings of different groups do not compare."""

    names: tuple[str, ...]
    """Strongest first."""
    virtual_draws: int
    """Draws added, one for each pairing across a divide; 0 if all ratings are finite."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """A rating list: ``players`` group by group, the largest group first, each strongest first."""

    players: tuple[PlayerRating, ...]
    groups: tuple[RatingGroup, ...]
    superiority: tuple[tuple[float | None, ...], ...]
    """The probability that the row's player is stronger than the column's, in the order of
    ``players``; None on the diagonal and between groups. Empty for more than `MOST_EXACT`."""
    anchor: tuple[str, float] | None = None


@dataclass(slots=True)
class _Games:
    """The games of a connected group, by pairing, from the view of the first engine of each."""

    graph: Laplacian
    counts: list[MatchCounts]
    games: list[float]
    points: list[float]

    def add_draws(self, numbers: Sequence[float]) -> None:
        """Add ``draws`` draws to each pairing, for their strengths and their information."""
        self.games = list(map(add, self.games, numbers))
        self.points = [points + number / 2 for points, number in zip(self.points, numbers)]

    def expected(self, strengths: Sequence[float]) -> list[float]:
        """The score that is expected in a game of each pairing."""
        return [0.5 + 0.5 * tanh(0.5 * ahead) for ahead in self.graph.differences(strengths)]

    def information(self, expected: Sequence[float]) -> list[float]:
        """The information of each pairing's games about the difference in strength."""
        return [games * score * (1 - score) for games, score in zip(self.games, expected)]


def rate(matches: Counts, anchor: tuple[str, float] | None = None) -> Ratings:
    """Rate every engine of ``matches``; each group has mean 0, or ``anchor`` (name, Elo) fixed.

    A game outside an opening pair is a cluster of its own. Raises ValueError if the anchor played
    no game.
    """
    index: dict[str, int] = {}
    for name in chain.from_iterable(matches):
        index.setdefault(name, len(index))
    names = list(index)
    if anchor is not None and anchor[0] not in index:
        raise ValueError(f"the anchor {anchor[0]!r} played no rated game")
    held = None if anchor is None else index[anchor[0]]
    edges = [(index[one], index[other]) for one, other in matches]
    groups = components(len(names), [*edges, *((other, one) for one, other in edges)])
    label = {player: number for number, group in enumerate(groups) for player in group}
    place = {player: k for group in groups for k, player in enumerate(group)}
    own_edges: list[list[tuple[int, int]]] = [[] for _ in groups]
    own_counts: list[list[MatchCounts]] = [[] for _ in groups]
    for (first, second), counts in zip(edges, matches.values()):
        own_edges[label[first]].append((place[first], place[second]))
        own_counts[label[first]].append(counts)
    parts = []
    for members, inner, played in zip(groups, own_edges, own_counts):
        elo = anchor[1] if anchor is not None and held in members else None
        games = _Games(
            Laplacian(len(members), inner), played,
            [counts.games for counts in played], [counts.points for counts in played],
        )
        parts.append(_rate_group(members, games, held, elo))
    parts.sort(key=lambda part: -len(part.members))
    records = _records(len(names), index, matches)
    rows: list[PlayerRating] = []
    for number, part in enumerate(parts):
        for i, elo, error in zip(part.members, part.elos, part.errors):
            rows.append(PlayerRating(names[i], elo, error, number, *records[i]))
    return Ratings(
        tuple(rows),
        tuple(RatingGroup(tuple(names[i] for i in part.members), part.virtual_draws)
              for part in parts),
        _superiority(parts),
        anchor,
    )


def _records(size: int, index: dict[str, int], matches: Counts) -> list[tuple[int, int, int]]:
    """Each player's wins, draws and losses over all matches."""
    records = [(0, 0, 0)] * size
    for (one, other), counts in matches.items():
        for player, won, lost in (
            (index[one], counts.wins, counts.losses), (index[other], counts.losses, counts.wins)
        ):
            wins, draws, losses = records[player]
            records[player] = wins + won, draws + counts.draws, losses + lost
    return records


@dataclass(slots=True)
class _Part:
    """One group's solution, its members strongest first."""

    members: list[int]
    virtual_draws: int
    elos: list[float]
    errors: list[float]
    likely: list[float]
    """The Elos with the prior, from which the superiority follows."""
    covariance: Matrix
    """Of the Elos, in the members' order; empty in a large group."""


def _rate_group(
    members: list[int], games: _Games, held: int | None, elo: float | None
) -> _Part:
    """Rate one connected group; ``elo`` is the rating of its member ``held``, if it is fixed."""
    size, graph = len(members), games.graph
    virtual = _one_sided(games)
    games.add_draws(virtual)
    strengths = _solve(games, [0.0] * size)
    information = games.information(games.expected(strengths))
    graph.weigh(information)
    is_small = size <= MOST_EXACT
    find_leverages = _exact_leverages if is_small else _leverages
    shares = _prior_shares(games, find_leverages(graph, information))
    likely = strengths
    if any(shares):
        # Where the prior keeps strengths finite, virtual draws need not.
        games.add_draws([share * (2 - is_virtual) for share, is_virtual in zip(shares, virtual)])
        likely = _solve(games, strengths)
    expected = games.expected(likely)
    spreads = list(map(_spread, games.counts, expected, shares))
    graph.weigh(games.information(expected))
    origin = None if elo is None or held is None else members.index(held)
    covariance: Matrix = []
    if is_small:
        covariance = _about(sandwich(graph.inverse(), graph.edges, spreads), origin)
        variances = [covariance[k][k] for k in range(size)]
    else:
        variances = _variances(graph, spreads, origin)
    elos, likely = (_rated(values, origin, elo) for values in (strengths, likely))
    errors = [
        Z95 * ELO_UNIT * math.sqrt(max(0.0, variance)) + abs(one - other)
        for variance, one, other in zip(variances, elos, likely)
    ]
    order = sorted(range(size), key=lambda k: (-elos[k], members[k]))
    return _Part(
        members=[members[k] for k in order],
        virtual_draws=sum(virtual),
        elos=[elos[k] for k in order],
        errors=[errors[k] for k in order],
        likely=[likely[k] for k in order],
        covariance=[[ELO_UNIT**2 * covariance[i][j] for j in order] for i in order]
        if covariance else [],
    )


def _rated(strengths: Sequence[float], origin: int | None, elo: float | None) -> list[float]:
    """Strengths as Elo, with the member ``origin`` at ``elo``, if there is one."""
    if origin is None or elo is None:
        return [ELO_UNIT * strength for strength in strengths]
    return [elo + ELO_UNIT * (strength - strengths[origin]) for strength in strengths]


def _spread(counts: MatchCounts, expected: float, share: float) -> float:
    """The sum of the squared distances of a pairing's clusters from their expected score, in
    points, with that share of the prior.
    """
    unpaired, pairs = counts.unpaired, counts.pentanomial
    found = sum(
        count * (points / 2 - games * expected) ** 2
        for games, cells in ((1, unpaired), (2, pairs))
        for points, count in enumerate(cells) if count
    )
    clusters = sum(unpaired) + sum(pairs) + share
    prior = share * (0.5 + (1 - 2 * expected) ** 2)
    return (found + prior) * clusters / (clusters + share)


def _solve(games: _Games, strengths: list[float]) -> list[float]:
    """The likeliest strengths in natural units, of mean 0, by damped Newton steps."""
    graph, precision = games.graph, FIRST
    for _ in range(MAX_STEPS):
        expected = games.expected(strengths)
        excess = [
            points - count * score
            for points, count, score in zip(games.points, games.games, expected)
        ]
        graph.weigh(games.information(expected))
        step = graph.solve(graph.gather(excess), precision)
        # The logistic likelihood's curvature changes at most e-fold a unit of any difference;
        # this damping is what that bound allows, so that every step improves the likelihood.
        widest = max(step) - min(step)
        if not widest:
            break
        scale = math.log1p(widest) / widest
        strengths = [s + scale * d for s, d in zip(strengths, step)]
        # The residual of a step is of the order of its square, plus the unsolved part of it.
        if widest * max(widest, precision) < SETTLED:
            break
        precision = min(FIRST, max(SETTLED, widest / 10))
    mean = sum(strengths) / len(strengths)
    return [s - mean for s in strengths]


def _exact_leverages(graph: Laplacian, information: Sequence[float]) -> list[float]:
    """Leverage of each pairing: how far only its games determine the difference; at most 1."""
    inverse = graph.inverse()
    return [
        weight * (inverse[i][i] + inverse[j][j] - 2 * inverse[i][j])
        for weight, (i, j) in zip(information, graph.edges)
    ]


def _leverages(graph: Laplacian, information: Sequence[float]) -> list[float]:
    """The same as a mean over random signs (Spielman and Srivastava), exact for bridges."""
    draw = _draws(graph, information)
    sums = [0.0] * len(graph.edges)
    for _ in range(LEVERAGE_SIGNS):
        ahead = graph.differences(graph.solve(draw(), ROUGH))
        sums = list(map(add, sums, map(mul, ahead, ahead)))
    return [min(1.0, weight * total / LEVERAGE_SIGNS) for weight, total in zip(information, sums)]


def _prior_shares(games: _Games, leverages: Sequence[float]) -> list[float]:
    """How much of a pair each pairing gets as a prior."""
    cells = [[0] * 8 for _ in range(games.graph.size)]
    own = [(*counts.unpaired, *counts.pentanomial) for counts in games.counts]
    for (first, second), counts in zip(games.graph.edges, own):
        cells[first] = list(map(add, cells[first], counts))
        cells[second] = list(map(add, cells[second], (*counts[2::-1], *counts[:2:-1])))
    around = list(map(_outside_fullest, cells))
    return [
        leverage * prior_share(
            _outside_fullest(counts) + (1 - leverage) * min(around[first], around[second])
        )
        for leverage, counts, (first, second) in zip(leverages, own, games.graph.edges)
    ]


def _outside_fullest(cells: Sequence[int]) -> float:
    """The clusters outside the fullest cell, of games and of pairs."""
    return sum(cells) - max(cells[:3]) - max(cells[3:])


def _draws(graph: Laplacian, spreads: Sequence[float]) -> Callable[[], list[float]]:
    """Return a sampler of the sum of all edges, each times its root spread and a random sign.

    The signs are the same every time: the same games have the same errors.
    """
    roots = list(map(math.sqrt, spreads))
    chance = random.Random(1)

    def draw() -> list[float]:
        signs = f"{chance.getrandbits(len(roots)):0{len(roots)}b}"
        return graph.gather([root if sign == "1" else -root for root, sign in zip(roots, signs)])

    return draw


def _variances(graph: Laplacian, spreads: Sequence[float], origin: int | None) -> list[float]:
    """The variances of the strengths about their mean, or about one, as means over random signs.

    The part of them that comes from the engines' own games is known, and left out of the means.
    """
    degrees = graph.diagonal
    meat = Laplacian(graph.size, graph.edges)
    meat.weigh(spreads)
    own = [spread / degree**2 for spread, degree in zip(meat.diagonal, degrees)]
    if origin is not None:
        zero = own[origin]
        own = [variance + zero for variance in own]
        for (i, j), spread in zip(graph.edges, spreads):
            if origin in (i, j):
                own[i + j - origin] += 2 * spread / (degrees[i] * degrees[j])
    draw = _draws(graph, spreads)
    sums = [0.0] * graph.size
    for _ in range(SIGNS):
        right = draw()
        x = graph.solve(right, ROUGH)
        x0 = [value / degree for value, degree in zip(right, degrees)]
        if origin is not None:
            x, x0 = ([value - vector[origin] for value in vector] for vector in (x, x0))
        sums = [total + a * a - b * b for total, a, b in zip(sums, x, x0)]
    variances = [
        # Chance may leave less than an engine's own games would have if all others were known.
        max(known / 2, known + total / SIGNS) for known, total in zip(own, sums)
    ]
    if origin is not None:
        variances[origin] = 0.0
    return variances


def _about(covariance: Matrix, origin: int | None) -> Matrix:
    """The covariance of the differences to one player, if there is one."""
    if origin is None:
        return covariance
    row, own = covariance[origin], covariance[origin][origin]
    return [
        [cell - row[i] - row[j] + own for j, cell in enumerate(line)]
        for i, line in enumerate(covariance)
    ]


def _superiority(parts: Sequence[_Part]) -> tuple[tuple[float | None, ...], ...]:
    """The matrix of ``Ratings.superiority``, group after group along the diagonal."""
    size = sum(len(part.members) for part in parts)
    if size > MOST_EXACT:
        return ()
    table: list[list[float | None]] = [[None] * size for _ in range(size)]
    start = 0
    for part in parts:
        c = part.covariance
        for i, elo in enumerate(part.likely):
            for j, other in enumerate(part.likely):
                if i != j:
                    error = math.sqrt(max(0.0, c[i][i] + c[j][j] - 2 * c[i][j]))
                    table[start + i][start + j] = superiority(elo - other, error)
        start += len(part.members)
    return tuple(map(tuple, table))


def _one_sided(games: _Games) -> list[int]:
    """1 for each pairing across a divide that points pass in one direction only (Ford's condition).
    """
    scored = []
    for (first, second), points, count in zip(games.graph.edges, games.points, games.games):
        if points > 0:
            scored.append((first, second))
        if points < count:
            scored.append((second, first))
    parts = enumerate(components(games.graph.size, scored))
    label = {player: number for number, part in parts for player in part}
    return [int(label[first] != label[second]) for first, second in games.graph.edges]
