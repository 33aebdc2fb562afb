"""Elo, normalized Elo and likelihood of superiority from the counts of a match.

Counts come in cells of evenly spaced score, lowest first: (losses, draws, wins) of games, or
(LL, LD, DD+WL, WD, WW) of opening pairs. The estimates are Gaussian, from the mean score and its
population variance over the cells; errors are half the width of the 95 % interval. Normalized Elo
divides by the standard deviation of a game's score: M. Van den Bergh, "Normalized Elo".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""

NELO_UNIT = 800 / math.log(10)
"""Normalized Elo of one standard deviation per game; also Elo's slope in the score at 0.5."""

GAMES_A_CELL = {3: 1, 5: 2}
"""Games that one entry stands for, by the number of cells."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An Elo estimate with its 95 % errors; may hold infinities, never nan.

    - No games: every estimate is even (score 0.5, 0 Elo, 50 %), every error infinite.
    - The interval of the score reaches 0 or 1: ``elo_error`` is infinite.
    - Every cell but one empty: the variance is 0, so ``elo_error`` is 0 too, except where the
      score itself is 0 or 1 (Elo and error infinite); ``nelo`` is 0 at an even score, else
      infinite with its sign, and ``los`` is 50, 0 or 100.
    """

    score: float
    """Mean score, 0 to 1."""
    elo: float
    elo_error: float
    nelo: float
    nelo_error: float
    los: float
    """Likelihood of superiority, in percent."""


def from_cells(cells: Sequence[float]) -> Estimate:
    """Estimate from 3 cells of games or 5 cells of pairs, lowest score first.

    Games are taken as independent; the openings of pairs need not be balanced.
    """
    count, mean, variance = moments(cells)
    if not count:
        return Estimate(0.5, 0.0, math.inf, 0.0, math.inf, 50.0)
    standard_error = math.sqrt(variance / count)
    low = elo_of_score(mean - Z95 * standard_error)
    high = elo_of_score(mean + Z95 * standard_error)
    error = (high - low) / 2 if low < high else (0.0 if math.isfinite(low) else math.inf)
    unit = NELO_UNIT / math.sqrt(GAMES_A_CELL[len(cells)])
    return Estimate(
        score=mean,
        elo=elo_of_score(mean),
        elo_error=error,
        nelo=unit * _deviations(mean - 0.5, math.sqrt(variance)),
        nelo_error=unit * Z95 / math.sqrt(count),
        los=100 * superiority(mean - 0.5, standard_error),
    )


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
