"""Elo, normalized Elo and likelihood of superiority from the counts of a match.

Counts are given in cells of evenly spaced score, lowest first: (losses, draws, wins) of games, or
(LL, LD, DD+WL, WD, WW) of opening pairs. An entry is one game or one pair. The estimates are
Gaussian, from the mean score and its population variance over the cells. Errors are half the width
of the 95 % interval. Normalized Elo divides by the standard deviation of a game's score: M. Van den
Bergh, "Normalized Elo".

A sample of few results underestimates its variance: a single pair, or pairs that all end alike,
have none. Therefore the error of Elo, the LOS and the deviation in normalized Elo include a
Dirichlet prior: one pair with two decisive games between equals (a quarter LL, half WL, a quarter
WW). The prior is added to the cells with a weight from 1 to 0, which falls linearly with the number
of entries outside the fullest cell:

- At weight 1, the interval is symmetric in Elo about the mean that includes the prior.
- From `FULL_SPREAD` such entries on, the weight is 0, and all formulas are plain Gaussian ones.
- Between them, each end of the interval is a weighted mean of both.

The variance of the mean is the variance of all entries, the prior included, divided by the sum of
their count and the weight. The Elo estimate leaves the prior out. Its error is half the width of
the interval plus the distance in Elo by which the prior shifts the mean. In simulated matches of
three or more pairs, the true difference lies within the error in at least 90 % of cases
(`tests/tournament/statistics/test_elo.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from merels.engine.common.errors import required, shown

Z95 = 1.959963984540054
"""Normal quantile of a two-sided 95 % interval."""

ELO_UNIT = 400 / math.log(10)
"""Elo per unit of natural log-odds."""

NELO_UNIT = 800 / math.log(10)
"""Normalized Elo per standard deviation of a game.

Without draws, normalized Elo and Elo are therefore equal near 0."""

GAMES_PER_ENTRY = {3: 1, 5: 2}
"""Games per entry, by the number of cells."""

PRIOR = {3: (1.0, 0.0, 1.0), 5: (0.25, 0.0, 0.5, 0.0, 0.25)}
"""Prior added to the results for errors, by the number of cells."""

FULL_SPREAD = 25
"""Number of entries outside the fullest cell from which on the prior has no weight."""

MAX_ENTRIES = 1e15
"""Largest count of a cell; doubles are exact up to there."""

FEW_GAMES = 20
"""Number of games below which errors are too rough for conclusions."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An Elo estimate with its 95 % errors; may hold infinities, never nan.

    - Without games, estimates are even (score 0.5, 0 Elo, 50 %) and errors infinite.
    - With a score of 0 or 1, ``elo`` and ``nelo`` are infinite with their sign.
    - With a score of 0 or 1, or an interval that reaches 0 or 1, ``elo_error`` is infinite.
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
    """Return the estimate from 3 cells of games or 5 cells of pairs, lowest score first.

    Games are treated as independent; the openings of pairs need not be balanced. Raises ValueError
    for negative or infinite counts, or a number of cells other than 3 and 5.
    """
    check_cells(cells)
    count, score, _ = moments(cells)
    if not count:
        return Estimate(0.5, 0.0, math.inf, 0.0, math.inf, 50.0, True)
    weight = prior_weight(count - max(cells))
    total, mean, variance = moments([
        cell + weight * prior for cell, prior in zip(cells, PRIOR[len(cells)])
    ])
    standard_error = math.sqrt(variance / (total + weight))
    games = GAMES_PER_ENTRY[len(cells)]
    unit = NELO_UNIT / math.sqrt(games)
    elo = elo_of_score(score)
    is_finite = math.isfinite(elo)
    return Estimate(
        score=score,
        elo=elo,
        elo_error=_elo_error(elo, mean, standard_error, weight) if is_finite else math.inf,
        nelo=unit * (score - 0.5) / math.sqrt(variance) if is_finite else elo,
        nelo_error=unit * Z95 / math.sqrt(count),
        los=100 * _los(mean, standard_error, weight),
        too_few=games * count < FEW_GAMES,
    )


def prior_weight(spread: float) -> float:
    """Return the weight of the prior, 0 to 1.

    ``spread`` is the number of entries outside the fullest cell.
    """
    return max(0.0, 1 - spread / FULL_SPREAD)


def _elo_error(elo: float, mean: float, standard_error: float, weight: float) -> float:
    """Return half the width of the interval in Elo, plus the prior's shift of the mean in Elo.

    Each end of the interval is a weighted mean of the ends of two intervals: one symmetric in Elo,
    with ``weight``, and one symmetric in score, with the rest.
    """
    error = Z95 * standard_error
    log_odds, log_odds_error = _log_odds(mean), error / _slope(mean)
    half = ELO_UNIT * log_odds_error
    if weight < 1:
        low, high = (
            weight * _score(log_odds + sign * log_odds_error) + (1 - weight) * (mean + sign * error)
            for sign in (-1, 1)
        )
        half = (elo_of_score(high) - elo_of_score(low)) / 2
    return half + abs(elo - elo_of_score(mean))


def _los(mean: float, standard_error: float, weight: float) -> float:
    """Return the likelihood of superiority, 0 to 1.

    The lead is a weighted mean of the lead in log-odds, converted to score by the slope at the
    mean, and the lead in score.
    """
    lead = mean - 0.5
    if 0 < mean < 1:
        lead = weight * _log_odds(mean) * _slope(mean) + (1 - weight) * lead
    return superiority(lead, standard_error)


def _slope(score: float) -> float:
    """Return the derivative of the score by its log-odds."""
    return score * (1 - score)


def _log_odds(score: float) -> float:
    return math.log(score / (1 - score))


def _score(log_odds: float) -> float:
    return 0.5 * (1 + math.tanh(log_odds / 2))


def check_cells(cells: Sequence[float]) -> None:
    """Raise ValueError unless these are 3 cells of games or 5 of pairs with counts from 0."""
    required(cells, Sequence, "counts in 3 cells of games or 5 of pairs")
    if len(cells) not in GAMES_PER_ENTRY:
        raise ValueError(f"expected counts in 3 cells of games or 5 of pairs, not {len(cells)}")
    if any(not isinstance(cell, (int, float)) or not 0 <= cell <= MAX_ENTRIES for cell in cells):
        raise ValueError(f"expected finite counts from 0, not {shown(tuple(cells))}")


def moments(cells: Sequence[float]) -> tuple[float, float, float]:
    """Return the entries' count, mean score and population variance; (0, 0.5, 0) without entries.

    `check_cells` checks the cells.
    """
    count = sum(cells)
    if not count:
        return 0.0, 0.5, 0.0
    top = len(cells) - 1
    mean = sum(i * cell for i, cell in enumerate(cells)) / (top * count)
    variance = sum(cell * (i / top - mean) ** 2 for i, cell in enumerate(cells)) / count
    return count, mean, variance


def elo_of_score(score: float) -> float:
    """Return the Elo difference with this expected score; infinite unless it is between 0 and 1."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 0 - 400 * math.log10(1 / score - 1)  # -400 * … would return -0.0 for 0.5


def score_of_elo(elo: float) -> float:
    """Return the expected score at an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


def superiority(difference: float, standard_error: float) -> float:
    """Return the probability, 0 to 1, that the true value of a normal estimate is above 0."""
    return 0.5 * math.erfc(-_z_score(difference, standard_error) / math.sqrt(2))


def _z_score(difference: float, deviation: float) -> float:
    """Return ``difference / deviation``; signed infinity for a deviation of 0, and 0 for 0 / 0."""
    if deviation:
        return difference / deviation
    return math.copysign(math.inf, difference) if difference else 0.0
