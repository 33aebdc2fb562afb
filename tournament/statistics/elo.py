"""Elo, normalized Elo and likelihood of superiority from the counts of a match.

Counts come in cells of evenly spaced score, lowest first: (losses, draws, wins) of games, or
(LL, LD, DD+WL, WD, WW) of opening pairs. The estimates are Gaussian, from the mean score and its
population variance over the cells; errors are half the width of the 95 % interval. Normalized Elo
divides by the standard deviation of a game's score: M. Van den Bergh, "Normalized Elo".

Few results show too little of their own spread: one pair, or pairs that all end alike, show none.
So the errors, LOS and the deviation of normalized Elo count one more pair, of two decisive games
between equals (a quarter LL, half WL, a quarter WW), as a Dirichlet prior: the variance of the mean
is that of the cells / (count + 1). The interval is then symmetric in Elo, and the error reaches
from the estimate, which the prior does not change, to its further end. The prior's share falls
linearly with the number of entries outside the fullest cell; from `FULL_SPREAD` of them on the
formulas are the Gaussian ones. Of simulated matches of three pairs and more, at least 90 % have the
true difference within the error (`tests/tournament/statistics/test_elo.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""

ELO_UNIT = 400 / math.log(10)
"""Elo of one natural logarithm of the odds."""

NELO_UNIT = 800 / math.log(10)
"""Normalized Elo of one standard deviation per game; also Elo's slope in the score at 0.5."""

GAMES_A_CELL = {3: 1, 5: 2}
"""Games that one entry stands for, by the number of cells."""

PRIOR = {3: (1.0, 0.0, 1.0), 5: (0.25, 0.0, 0.5, 0.0, 0.25)}
"""The pair that errors count beside the results, by the number of cells."""

FULL_SPREAD = 25
"""Entries outside the fullest cell that show the spread of results: no prior is needed."""

FEW_GAMES = 20
"""Below this number of games, errors are too rough to conclude anything from."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An Elo estimate with its 95 % errors; may hold infinities, never nan.

    - No games: every estimate is even (score 0.5, 0 Elo, 50 %), every error infinite.
    - The score is 0 or 1: ``elo`` and ``nelo`` are infinite with their sign.
    - The score is 0 or 1, or its interval reaches 0 or 1: ``elo_error`` is infinite.
    """

    score: float
    """Mean score, 0 to 1."""
    elo: float
    elo_error: float
    nelo: float
    nelo_error: float
    los: float
    """Likelihood of superiority, in percent."""
    too_few: bool = False
    """Whether there are fewer than `FEW_GAMES` games."""


def from_cells(cells: Sequence[float]) -> Estimate:
    """Estimate from 3 cells of games or 5 cells of pairs, lowest score first.

    Games are taken as independent; the openings of pairs need not be balanced.
    """
    count, score, _ = moments(cells)
    if not count:
        return Estimate(0.5, 0.0, math.inf, 0.0, math.inf, 50.0, True)
    share = prior_share(count - max(cells))
    total, mean, variance = moments([
        cell + share * prior for cell, prior in zip(cells, PRIOR[len(cells)])
    ])
    standard_error = math.sqrt(variance / (total + share))
    games = GAMES_A_CELL[len(cells)]
    unit = NELO_UNIT / math.sqrt(games)
    elo = elo_of_score(score)
    is_finite = math.isfinite(elo)
    return Estimate(
        score=score,
        elo=elo,
        elo_error=_elo_error(elo, mean, standard_error, share) if is_finite else math.inf,
        nelo=unit * (score - 0.5) / math.sqrt(variance) if is_finite else elo,
        nelo_error=unit * Z95 / math.sqrt(count),
        los=100 * _los(mean, standard_error, share),
        too_few=games * count < FEW_GAMES,
    )


def prior_share(spread: float) -> float:
    """The share of the prior that counts, 0 to 1, with that many entries outside the fullest cell.
    """
    return max(0.0, 1 - spread / FULL_SPREAD)


def _elo_error(elo: float, mean: float, standard_error: float, share: float) -> float:
    """Half the width of the interval in Elo, and how far the prior has moved its centre.

    Its ends are symmetric in Elo as far as the prior counts, else in score.
    """
    reach = Z95 * standard_error
    odds, odds_reach = _log_odds(mean), reach / (mean * (1 - mean))
    half = ELO_UNIT * odds_reach
    if share < 1:
        low, high = (
            share * _score(odds + sign * odds_reach) + (1 - share) * (mean + sign * reach)
            for sign in (-1, 1)
        )
        half = (elo_of_score(high) - elo_of_score(low)) / 2
    return half + abs(elo - elo_of_score(mean))


def _los(mean: float, standard_error: float, share: float) -> float:
    """The likelihood of superiority, 0 to 1, in the same mixture of log-odds and score."""
    ahead = mean - 0.5
    if 0 < mean < 1:
        ahead = share * _log_odds(mean) * mean * (1 - mean) + (1 - share) * ahead
    return superiority(ahead, standard_error)


def _log_odds(score: float) -> float:
    return math.log(score / (1 - score))


def _score(log_odds: float) -> float:
    return 0.5 * (1 + math.tanh(log_odds / 2))


def moments(cells: Sequence[float]) -> tuple[float, float, float]:
    """The entries' count, mean score and population variance; (0, 0.5, 0) without entries."""
    if len(cells) not in GAMES_A_CELL:
        raise ValueError(f"counts come in 3 cells of games or 5 of pairs, not {len(cells)}")
    if any(not 0 <= cell < math.inf for cell in cells):
        raise ValueError(f"counts cannot be negative: {tuple(cells)}")
    count = sum(cells)
    if not count:
        return 0.0, 0.5, 0.0
    top = len(cells) - 1
    mean = sum(i * cell for i, cell in enumerate(cells)) / (top * count)
    variance = sum(cell * (i / top - mean) ** 2 for i, cell in enumerate(cells)) / count
    return count, mean, variance


def elo_of_score(score: float) -> float:
    """The Elo difference at which ``score`` is expected; infinite at and beyond 0 and 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 0 - 400 * math.log10(1 / score - 1)  # not -400 *, which makes -0.0 of an even score


def score_of_elo(elo: float) -> float:
    """The score expected at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def superiority(difference: float, standard_error: float) -> float:
    """The probability, 0 to 1, that a normal estimate's true value is above 0."""
    return 0.5 * math.erfc(-_deviations(difference, standard_error) / math.sqrt(2))


def _deviations(difference: float, deviation: float) -> float:
    """``difference / deviation``, infinite with its sign where nothing deviates, 0 for 0 / 0."""
    if deviation:
        return difference / deviation
    return math.copysign(math.inf, difference) if difference else 0.0
