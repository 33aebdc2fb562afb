"""Sequential probability ratio test of two Elo hypotheses, in its generalized form (GSPRT).

The log-likelihood ratio compares two maximum-likelihood fits of the distribution of results: one
with strength ``elo1``, one with strength ``elo0``. Both fits are exact and follow M. Van den Bergh.
A fit to a mean score uses proposition 1.1 of "Comparing the approximations for the generalized log
likelihood ratio of a multinomial distribution". A fit to a normalized Elo uses the iteration of
section 4.1 of "Comments on normalized Elo". A cell is the count of one result; an empty cell counts
as 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from merels.engine.common.errors import required, shown
from merels.engine.common.numbers import real_number
from merels.tournament.statistics.counts import MatchCounts
from merels.tournament.statistics.elo import (
    GAMES_PER_ENTRY,
    NELO_UNIT,
    check_cells,
    moments,
    score_of_elo,
)

Model = Literal["normalized", "logistic", "bayesian"]
Verdict = Literal["H0", "H1"]

MODELS: tuple[Model, ...] = ("normalized", "logistic", "bayesian")
EMPTY_CELL = 1e-3
LEAST_SHARE = 1e-12
"""Least share of a cell in the sum of all cells; a smaller share would be rounded away."""
MAX_ELO = 1000.0
"""Largest Elo of a hypothesis. Logistic Elo expects a score of 0.997 there."""

MAX_ROUNDS, SETTLED = 50, 1e-9
"""The iteration ends after `MAX_ROUNDS`, or when no probability changes by `SETTLED` or more."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """SPRT of ``elo0`` (H0) against ``elo1`` (H1).

    ``alpha`` is the probability of accepting H1 when H0 is true, ``beta`` that of accepting H0 when
    H1 is true. ``elo0`` and ``elo1`` are in the model's unit: normalized Elo, logistic Elo, or
    BayesElo. Raises ValueError for a test that cannot decide.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"

    def __post_init__(self) -> None:
        """Raise ValueError for invalid fields."""
        if self.model not in MODELS:
            raise ValueError(
                f"unknown SPRT model {self.model!r}; expected one of {', '.join(MODELS)}"
            )
        for field in ("elo0", "elo1", "alpha", "beta"):
            required(getattr(self, field), (int, float), f"a number for SPRT {field}")
        if not -MAX_ELO <= self.elo0 < self.elo1 <= MAX_ELO:
            raise ValueError(
                f"expected SPRT elo0 < elo1, both within +-{MAX_ELO:g}, "
                f"not {shown(self.elo0)}, {shown(self.elo1)}"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 1:
                raise ValueError(f"expected SPRT {name} between 0 and 1, not {shown(value)}")
        if self.alpha + self.beta >= 1:
            raise ValueError(f"expected SPRT alpha + beta below 1, not {self.alpha + self.beta:g}")

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at or below which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at or above which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, cells: Sequence[float]) -> float:
        """Return the log-likelihood ratio from 3 cells of games or 5 of pairs, lowest score first.

        It is 0 before the first game. The bayesian model takes only 3 cells, since it needs the
        draw rate of single games; ValueError for 5, and for the cells that `check_cells` refuses.
        """
        if self.model == "bayesian" and len(cells) != 3:
            raise ValueError("the bayesian model needs wins, losses and draws, not pairs of games")
        check_cells(cells)
        entries = sum(cells)
        if not entries:
            return 0.0
        least = entries * LEAST_SHARE
        counts = [max(float(cell) or EMPTY_CELL, least) for cell in cells]
        total = sum(counts)
        observed = [count / total for count in counts]
        if self.model == "normalized":
            unit = math.sqrt(GAMES_PER_ENTRY[len(cells)]) / NELO_UNIT
            fit0 = _fit_deviations(observed, self.elo0 * unit)
            fit1 = _fit_deviations(observed, self.elo1 * unit)
        else:
            fit0 = _fit_mean(observed, self._score(self.elo0, observed))
            fit1 = _fit_mean(observed, self._score(self.elo1, observed))
        return total * sum(p * math.log(q1 / q0) for p, q0, q1 in zip(observed, fit0, fit1))

    def verdict(self, llr: float) -> Verdict | None:
        """Return the hypothesis accepted at this ratio, or None while the test is undecided."""
        real_number(llr, -math.inf, math.inf, "llr")
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    def fraction(self, llr: float) -> float:
        """Return the ratio relative to the bound of its sign: 1 at ``upper``, -1 at ``lower``."""
        real_number(llr, -math.inf, math.inf, "llr")
        return llr / self.upper if llr >= 0 else -llr / self.lower

    def _score(self, elo: float, observed: Sequence[float]) -> float:
        """Return the mean score that the logistic or bayesian model expects at ``elo``."""
        if self.model == "logistic":
            return score_of_elo(elo)
        loss, draw, win = observed
        # The sum loss + draw is used, since 1 - win rounds to 0 if nearly all games are won.
        draw_elo = 200 * math.log10((draw + win) / loss * (loss + draw) / win)
        return (1 + score_of_elo(elo - draw_elo) - score_of_elo(-elo - draw_elo)) / 2


def _fit_mean(observed: Sequence[float], mean: float) -> list[float]:
    """Return the most likely distribution with exactly this mean score."""
    top = len(observed) - 1
    return _tilt(observed, [i / top - mean for i in range(top + 1)])


def _fit_deviations(observed: Sequence[float], target: float) -> list[float]:
    """Return the most likely distribution whose mean exceeds 0.5 by ``target`` standard deviations.

    Each round linearizes the condition about the previous distribution and solves the linear
    condition exactly. The iteration starts from a distribution at least as strong as the target, so
    the linear condition always has a solution; after a uniform start it may have none. Five rounds
    are usual. Extreme counts (almost all in one cell) settle to about 1e-8 and stop at the last
    round.
    """
    if target < 0:
        return _fit_deviations(observed[::-1], -target)[::-1]
    top = len(observed) - 1
    fit = list(observed)
    _, mean, variance = moments(fit)
    while mean - 0.5 < target * math.sqrt(variance):
        fit = [p / 2 for p in fit]
        fit[-1] += 0.5
        _, mean, variance = moments(fit)
    for _ in range(MAX_ROUNDS):
        deviation = math.sqrt(variance)
        slopes = [
            i / top - 0.5 - target / 2 * (deviation + (i / top - mean) ** 2 / deviation)
            for i in range(top + 1)
        ]
        previous, fit = fit, _tilt(observed, slopes)
        if max(abs(p - q) for p, q in zip(previous, fit)) < SETTLED:
            break
        _, mean, variance = moments(fit)
    return fit


def _tilt(observed: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """Return the most likely distribution under which ``slopes`` have mean 0.

    It is ``p / (1 + theta * slope)`` for each observed ``p``. Theta is the only root, between the
    poles, of the sum of ``p * slope / (1 + theta * slope)``, which decreases in theta. Newton's
    method finds it, with a bisection where a step would leave the bracket.
    """
    low, high = -1 / max(slopes), -1 / min(slopes)
    theta = 0.0
    for _ in range(200):
        tilted = [slope / (1 + theta * slope) for slope in slopes]
        value = sum(p * t for p, t in zip(observed, tilted))
        fall = sum(p * t * t for p, t in zip(observed, tilted))
        if value > 0:
            low = theta
        else:
            high = theta
        step = theta + value / fall
        if not low < step < high:
            step = (low + high) / 2
        if abs(step - theta) <= 1e-15 * abs(theta):
            break
        theta = step
    return [p / (1 + theta * slope) for p, slope in zip(observed, slopes)]


def match_llr(sprt: Sprt, counts: MatchCounts, penta: bool = True) -> float:
    """Return the log-likelihood ratio of a match, from pairs if ``penta`` is set.

    The bayesian model always uses single games.
    """
    pairs = penta and sprt.model != "bayesian"
    return sprt.llr(counts.pentanomial if pairs else counts.trinomial)
