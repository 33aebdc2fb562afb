"""The sequential probability ratio test of two Elo hypotheses, in its generalized form (GSPRT).

The log-likelihood ratio compares the likeliest distribution of results whose strength is exactly
``elo1`` with the likeliest whose strength is exactly ``elo0``. Both are found exactly, following
M. Van den Bergh: a fixed mean score by proposition 1.1 of "Comparing the approximations for the
generalized log likelihood ratio of a multinomial distribution", a fixed normalized Elo by the
iteration of section 4.1 of "Comments on normalized Elo". Empty cells count 1e-3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from merels.tournament.statistics.counts import MatchCounts
from merels.tournament.statistics.elo import GAMES_A_CELL, NELO_UNIT, moments, score_of_elo

Model = Literal["normalized", "logistic", "bayesian"]
Verdict = Literal["H0", "H1"]

MODELS: tuple[Model, ...] = ("normalized", "logistic", "bayesian")
EMPTY_CELL = 1e-3
LEAST_SHARE = 1e-12
"""The share of all counts that a cell counts at least: with less, rounding would hide it."""
MAX_ELO = 1000.0
"""Hypotheses beyond this are refused as mistakes: the expected score there is 0.997 already."""

MAX_ROUNDS, SETTLED = 50, 1e-9
"""The iteration ends after these many rounds, or when no probability moves further than this."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of ``elo0`` (H0) against ``elo1`` (H1), with the errors it may make.

    ``alpha`` is the chance to accept H1 where H0 is true, ``beta`` the reverse. The unit of
    ``elo0`` and ``elo1`` is the model's: normalized Elo, logistic Elo, or BayesElo.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"

    def __post_init__(self) -> None:
        """Refuse a test that could not decide, naming what is wrong with it."""
        if self.model not in MODELS:
            raise ValueError(f"unknown SPRT model {self.model!r}; it is one of {', '.join(MODELS)}")
        if not -MAX_ELO <= self.elo0 < self.elo1 <= MAX_ELO:
            raise ValueError(
                f"SPRT needs elo0 < elo1, both within +-{MAX_ELO:g}, "
                f"not {self.elo0:g}, {self.elo1:g}"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 1:
                raise ValueError(f"SPRT {name} lies between 0 and 1, not at {value:g}")
        if self.alpha + self.beta >= 1:
            raise ValueError(f"SPRT alpha + beta stays below 1, not {self.alpha + self.beta:g}")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at or below which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at or above which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, cells: Sequence[float]) -> float:
        """The log-likelihood ratio of 3 cells of games or 5 of pairs, lowest score first.

        0 before the first game. The bayesian model needs the draw rate of games, which pairs do
        not tell: it takes 3 cells alone.
        """
        if self.model == "bayesian" and len(cells) != 3:
            raise ValueError("the bayesian model needs wins, losses and draws, not pairs of games")
        games = moments(cells)[0]
        if not games:
            return 0.0
        least = games * LEAST_SHARE
        counts = [max(float(cell) or EMPTY_CELL, least) for cell in cells]
        total = sum(counts)
        observed = [count / total for count in counts]
        if self.model == "normalized":
            unit = math.sqrt(GAMES_A_CELL[len(cells)]) / NELO_UNIT
            fit0 = _fit_deviations(observed, self.elo0 * unit)
            fit1 = _fit_deviations(observed, self.elo1 * unit)
        else:
            fit0 = _fit_mean(observed, self._score(self.elo0, observed))
            fit1 = _fit_mean(observed, self._score(self.elo1, observed))
        return total * sum(p * math.log(q1 / q0) for p, q0, q1 in zip(observed, fit0, fit1))

    def verdict(self, llr: float) -> Verdict | None:
        """The hypothesis accepted at this ratio, None while the test is undecided."""
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

    def fraction(self, llr: float) -> float:
        """How far the ratio is towards the bound on its side: 1 at ``upper``, -1 at ``lower``."""
        return llr / self.upper if llr >= 0 else -llr / self.lower

    def _score(self, elo: float, observed: Sequence[float]) -> float:
        """The mean score that the logistic or bayesian model expects at ``elo``."""
        if self.model == "logistic":
            return score_of_elo(elo)
        loss, draw, win = observed
        # Not 1 - win, which rounding makes 0 where nearly all games are won.
        draw_elo = 200 * math.log10((draw + win) / loss * (loss + draw) / win)
        return (1 + score_of_elo(elo - draw_elo) - score_of_elo(-elo - draw_elo)) / 2


def _fit_mean(observed: Sequence[float], mean: float) -> list[float]:
    """The likeliest distribution of exactly this mean score."""
    top = len(observed) - 1
    return _tilt(observed, [i / top - mean for i in range(top + 1)])


def _fit_deviations(observed: Sequence[float], target: float) -> list[float]:
    """The likeliest distribution whose mean is ``target`` of its own deviations above one half.

    Each round makes the condition linear about the last distribution and solves that exactly. It
    starts from a distribution at least as strong as the target: from there the linear condition
    always has a solution, which from a uniform start it has not. Five rounds are usual; strange
    counts (almost all in one cell) settle to about 1e-8 and stop at the last round.
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
        last, fit = fit, _tilt(observed, slopes)
        if max(abs(p - q) for p, q in zip(last, fit)) < SETTLED:
            break
        _, mean, variance = moments(fit)
    return fit


def _tilt(observed: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """The likeliest distribution under which ``slopes`` have mean 0.

    It is ``p / (1 + theta * slope)``; theta is the one root, between the poles, of a falling
    function. Newton's steps find it, halving the bracket where a step would leave it.
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
    """The match's log-likelihood ratio: of pairs where asked for, if the model has it for pairs."""
    pairs = penta and sprt.model != "bayesian"
    return sprt.llr(counts.pentanomial if pairs else counts.trinomial)
