"""Maximum-likelihood ratings of many engines from the scores of their games.

The model is Bradley and Terry's: the expected score of a game is the logistic function of the
difference in Elo. A draw is half a win and half a loss. Errors are the sandwich estimate (Huber;
White), clustered by opening pair: they hold although draws make games less variable than the model
assumes, and although the two games of an opening are not independent. Where every cluster of two
engines ended exactly as expected (a single opening pair always does), their results show no spread;
the model's is taken, as if games were decisive and independent, which errs on the wide side.

Engines that no games connect, even through others, cannot be compared: each connected group is
rated by itself, with mean 0 unless it holds the anchor. An engine or a set of engines that took
every point, or none, from the rest of its group has no finite rating; then each pairing across that
divide gets one virtual draw, and the group says how many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from merels.tournament.statistics import linear
from merels.tournament.statistics.connected import components
from merels.tournament.statistics.counts import Counts, MatchCounts, Tally
from merels.tournament.statistics.elo import Z95, superiority

ELO_UNIT = 400 / math.log(10)
"""Elo of one natural logarithm of the odds."""

MAX_STEPS = 100
NO_SPREAD = 1e-9
"""Squared points below which results did not spread: the solution is good to far less."""


@dataclass(frozen=True, slots=True)
class PlayerRating(Tally):
    """One engine's rating and the games behind it."""

    name: str
    elo: float
    error: float
    """Half the 95 % interval in Elo: about the group's mean, or about the anchor, whose own is 0.

    From the observed spread of results, or the model's where there is none: only the anchor's is
    0."""
    group: int
    """The index of its group in ``Ratings.groups``."""
    wins: int
    draws: int
    losses: int


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
    ``players``; None on the diagonal and between groups."""
    anchor: tuple[str, float] | None = None


_Pairings = dict[tuple[int, int], MatchCounts]


def rate(matches: Counts, anchor: tuple[str, float] | None = None) -> Ratings:
    """Rate every engine of ``matches``; each group has mean 0, or ``anchor`` (name, Elo) fixed.

    A game outside an opening pair is a cluster of its own. Raises ValueError if the anchor played
    no game.
    """
    index: dict[str, int] = {}
    for name in chain.from_iterable(matches):
        index.setdefault(name, len(index))
    names = list(index)
    pairings = {(index[one], index[other]): counts for (one, other), counts in matches.items()}
    if anchor is not None and anchor[0] not in names:
        raise ValueError(f"the anchor {anchor[0]!r} played no rated game")
    parts = [
        _rate_group(members, names, pairings, anchor)
        for members in components(len(names), [*pairings, *((b, a) for a, b in pairings)])
    ]
    parts.sort(key=lambda part: -len(part.members))
    rows: list[PlayerRating] = []
    groups: list[RatingGroup] = []
    for part in parts:
        members = [names[i] for i in part.members]
        groups.append(RatingGroup(tuple(members), part.virtual_draws))
        for i, elo, error in zip(part.members, part.elos, part.errors):
            wins, draws, losses = _record(i, pairings)
            rows.append(PlayerRating(names[i], elo, error, len(groups) - 1, wins, draws, losses))
    return Ratings(tuple(rows), tuple(groups), _superiority(parts), anchor)


def _record(player: int, pairings: _Pairings) -> tuple[int, int, int]:
    """A player's wins, draws and losses over all pairings."""
    wins = draws = losses = 0
    for (first, second), pairing in pairings.items():
        if player in (first, second):
            own = pairing if player == first else pairing.reversed()
            wins, draws, losses = wins + own.wins, draws + own.draws, losses + own.losses
    return wins, draws, losses


@dataclass(slots=True)
class _Part:
    """One group's solution, its members strongest first."""

    members: list[int]
    virtual_draws: int
    elos: list[float]
    errors: list[float]
    covariance: linear.Matrix
    """Of the Elos, in the members' order."""


def _rate_group(
    members: list[int], names: list[str], pairings: _Pairings, anchor: tuple[str, float] | None
) -> _Part:
    """Rate one connected group."""
    place = {player: k for k, player in enumerate(members)}
    local: _Pairings = {
        (place[a], place[b]): pairing for (a, b), pairing in pairings.items() if a in place
    }
    virtual = _one_sided(len(members), local)
    for key in virtual:
        local[key] = replace(local[key], draws=local[key].draws + 1)
    strengths = _solve(len(members), local)
    covariance = _sandwich(strengths, local)
    elos = [ELO_UNIT * strength for strength in strengths]
    if anchor is not None and anchor[0] in (names[i] for i in members):
        held = next(k for k, i in enumerate(members) if names[i] == anchor[0])
        elos = [anchor[1] + elo - elos[held] for elo in elos]
        covariance = _about(covariance, held)
    order = sorted(range(len(members)), key=lambda k: (-elos[k], members[k]))
    covariance = [[covariance[i][j] for j in order] for i in order]
    return _Part(
        members=[members[k] for k in order],
        virtual_draws=len(virtual),
        elos=[elos[k] for k in order],
        errors=[Z95 * math.sqrt(max(0.0, covariance[k][k])) for k in range(len(order))],
        covariance=covariance,
    )


def _solve(size: int, pairings: _Pairings) -> list[float]:
    """The likeliest strengths in natural units, of mean 0, by damped Newton steps."""
    strengths = [0.0] * size
    for _ in range(MAX_STEPS):
        gradient = [0.0] * size
        for (i, j), pairing in pairings.items():
            excess = pairing.points - pairing.games * _expected(strengths[i] - strengths[j])
            gradient[i] += excess
            gradient[j] -= excess
        step = linear.solve(linear.cholesky(_information(strengths, pairings)), gradient)
        # The logistic likelihood's curvature changes at most e-fold a unit of any difference;
        # this damping is what that bound allows, so that every step improves the likelihood.
        widest = max(step) - min(step)
        if widest < 1e-13:
            break
        scale = math.log1p(widest) / widest
        strengths = [s + scale * d for s, d in zip(strengths, step)]
    mean = sum(strengths) / size
    return [s - mean for s in strengths]


def _information(strengths: Sequence[float], pairings: _Pairings) -> linear.Matrix:
    """The information matrix, made regular by ``1/n`` in each cell: that fixes the mean alone."""
    weights = {}
    for (i, j), pairing in pairings.items():
        expected = _expected(strengths[i] - strengths[j])
        weights[i, j] = pairing.games * expected * (1 - expected)
    size = len(strengths)
    return [[cell + 1 / size for cell in row] for row in linear.laplacian(size, weights)]


def _sandwich(strengths: Sequence[float], pairings: _Pairings) -> linear.Matrix:
    """The covariance of the Elos about their mean, from how the clusters' scores spread."""
    spread = {}
    for (i, j), pairing in pairings.items():
        expected = _expected(strengths[i] - strengths[j])
        observed = sum(
            count * (points / 2 - games * expected) ** 2
            for games, cells in ((1, pairing.unpaired), (2, pairing.pentanomial))
            for points, count in enumerate(cells)
        )
        modelled = pairing.games * expected * (1 - expected)
        spread[i, j] = observed if observed > NO_SPREAD else modelled
    size = len(strengths)
    bread = linear.inverse(linear.cholesky(_information(strengths, pairings)))
    meat = linear.laplacian(size, spread)
    covariance = linear.product(linear.product(bread, meat), bread)
    return [[ELO_UNIT**2 * cell for cell in row] for row in covariance]


def _about(covariance: linear.Matrix, held: int) -> linear.Matrix:
    """The covariance of the differences to one player."""
    row, own = covariance[held], covariance[held][held]
    return [
        [cell - row[i] - row[j] + own for j, cell in enumerate(line)]
        for i, line in enumerate(covariance)
    ]


def _expected(difference: float) -> float:
    """The expected score at a difference in natural units."""
    return 0.5 * (1 + math.tanh(difference / 2))


def _superiority(parts: Sequence[_Part]) -> tuple[tuple[float | None, ...], ...]:
    """The matrix of ``Ratings.superiority``, group after group along the diagonal."""
    size = sum(len(part.members) for part in parts)
    table: list[list[float | None]] = [[None] * size for _ in range(size)]
    start = 0
    for part in parts:
        c = part.covariance
        for i, elo in enumerate(part.elos):
            for j, other in enumerate(part.elos):
                if i != j:
                    error = math.sqrt(max(0.0, c[i][i] + c[j][j] - 2 * c[i][j]))
                    table[start + i][start + j] = superiority(elo - other, error)
        start += len(part.members)
    return tuple(map(tuple, table))


def _one_sided(size: int, pairings: _Pairings) -> list[tuple[int, int]]:
    """The pairings across divides that points pass in one direction only (Ford's condition)."""
    scored = []
    for (a, b), pairing in pairings.items():
        if pairing.points > 0:
            scored.append((a, b))
        if pairing.points < pairing.games:
            scored.append((b, a))
    parts = enumerate(components(size, scored))
    label = {player: number for number, part in parts for player in part}
    return [(a, b) for a, b in pairings if label[a] != label[b]]
