"""The SPRT: its log-likelihood ratio for known and for extreme counts, its verdict and errors."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest

from merels.tournament.statistics.elo import NELO_UNIT
from merels.tournament.statistics.sprt import Model, Sprt

MODELS: list[tuple[Model, int]] = [
    ("normalized", 3), ("normalized", 5), ("logistic", 3), ("logistic", 5), ("bayesian", 3),
]
"""Models, with the number of cells of the counts that they accept."""
KNOWN = [
    ((36027, 68692, 36433), 0, 2, "normalized", 0.923293),
    ((10650, 20431, 10871), -1.75, 0.25, "normalized", 2.297500),
    ((21184, 40708, 21404), 0.5, 2.5, "logistic", -1.571889),
    ((68526, 128429, 68965), 0, 2, "bayesian", -1.262156),
    ((365, 16618, 36229, 16974, 390), 0, 2, "normalized", 2.250368),
    ((0, 0, 0, 0, 5550), 0, 5, "normalized", 111.797555),
    ((871, 26175, 55983, 26678, 821), 0, 2, "logistic", -4.978673),
]


@pytest.mark.parametrize("cells, elo0, elo1, model, known", KNOWN)
def test_the_ratio_equals_known_values(
    cells: tuple[int, ...], elo0: float, elo1: float, model: Model, known: float
) -> None:
    assert Sprt(elo0, elo1, model=model).llr(cells) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("model, size", MODELS)
def test_reversed_counts_negate_the_ratio(model: Model, size: int) -> None:
    chance = random.Random(7)
    for _ in range(100):
        cells = [chance.choice((0, 1, 40, chance.randrange(20000))) for _ in range(size)]
        elo0 = chance.uniform(-50, 50)
        elo1 = elo0 + chance.uniform(0.1, 20)
        llr = Sprt(elo0, elo1, model=model).llr(cells)
        reversed_llr = Sprt(-elo1, -elo0, model=model).llr(cells[::-1])
        assert reversed_llr == pytest.approx(-llr, rel=1e-5, abs=1e-6)


def highest_likelihood(cells: Sequence[float], target: float) -> float:
    """Return the highest log-likelihood of losses, draws and wins for a given mean score.

    The mean is ``target`` standard deviations above 0.5. For each draw rate, bisection finds the
    win rate with this mean; grids of decreasing width find the best draw rate.
    """
    counts = [cell or 1e-3 for cell in cells]

    def likelihood(draw: float) -> float:
        low, high = 0.0, 1.0 - draw
        for _ in range(80):
            win = (low + high) / 2
            loss = 1 - draw - win
            lead = (win - loss) / 2
            if lead < target * math.sqrt((win + loss) / 4 - lead * lead):
                low = win
            else:
                high = win
        rates = (1 - draw - low, draw, low)
        if min(rates) <= 0:
            return -math.inf
        return sum(count * math.log(rate) for count, rate in zip(counts, rates))

    centre, reach = 0.5, 0.5
    for _ in range(12):
        grid = [centre + reach * k / 40 for k in range(-40, 41)]
        centre = max((draw for draw in grid if 0 < draw < 1), key=likelihood)
        reach /= 10
    return likelihood(centre)


@pytest.mark.parametrize(
    "cells, elo0, elo1",
    [((20, 30, 50), 0, 10), ((300, 100, 200), -20, 60), ((5, 0, 9), 5, 150),
     ((90, 10, 1), -200, -90)],
)
def test_the_normalized_fit_has_the_highest_likelihood(
    cells: tuple[int, ...], elo0: float, elo1: float
) -> None:
    fit0, fit1 = (highest_likelihood(cells, elo / NELO_UNIT) for elo in (elo0, elo1))
    assert Sprt(elo0, elo1).llr(cells) == pytest.approx(fit1 - fit0, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("model, size", MODELS)
def test_the_ratio_is_always_finite(model: Model, size: int) -> None:
    """In a former version, the bayesian model took the logarithm of 0 with 10**15 wins."""
    chance = random.Random(11)
    for _ in range(100):
        cells = [chance.choice((0, 0, 1, 3, 60, 90000)) for _ in range(size)]
        elo0 = chance.uniform(-1000, 999)
        assert math.isfinite(Sprt(elo0, chance.uniform(elo0, 1000), model=model).llr(cells)), cells
    for cells in itertools.product((0, 1, 10**15), repeat=size):
        for elo0, elo1 in ((0, 5), (900, 1000)):
            assert math.isfinite(Sprt(elo0, elo1, model=model).llr(cells)), cells


@pytest.mark.parametrize("model, size", MODELS)
def test_the_ratio_is_zero_without_games(model: Model, size: int) -> None:
    assert Sprt(0, 5, model=model).llr((0,) * size) == 0.0


@pytest.mark.parametrize("model", ["normalized", "logistic", "bayesian"])
def test_a_match_won_or_lost_in_all_games_is_decided(model: Model) -> None:
    test = Sprt(0, 50, model=model)
    assert test.verdict(test.llr((0, 0, 500))) == "H1"
    assert test.verdict(test.llr((500, 0, 0))) == "H0"


def test_the_verdict_follows_from_the_bounds() -> None:
    test = Sprt(-3, 1, alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))
    assert test.verdict(test.upper) == "H1"
    assert test.verdict(test.lower) == "H0"
    assert test.verdict(0.0) is None
    assert test.fraction(test.upper) == 1 and test.fraction(test.lower) == -1


def test_the_error_rate_is_at_most_alpha() -> None:
    """Under H0, a test with alpha = 0.1 accepts H1 in about a tenth of the runs."""
    chance = random.Random(5)
    test = Sprt(0, 60, alpha=0.1, beta=0.1, model="logistic")
    wrong = 0
    for _ in range(200):
        cells = [0, 0, 0]
        verdict = None
        while verdict is None:
            for _ in range(5):
                cells[chance.choices((0, 1, 2), (0.3, 0.4, 0.3))[0]] += 1
            verdict = test.verdict(test.llr(cells))
        wrong += verdict == "H1"
    assert 5 <= wrong <= 32


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({"elo0": 5, "elo1": 5}, "elo0 < elo1"),
        ({"elo0": 0, "elo1": 5000}, "1000"),
        ({"elo0": 0, "elo1": math.nan}, "elo0 < elo1"),
        ({"elo0": 0, "elo1": 5, "alpha": 0}, "alpha"),
        ({"elo0": 0, "elo1": 5, "beta": 1}, "beta"),
        ({"elo0": 0, "elo1": 5, "alpha": 0.6, "beta": 0.6}, "below 1"),
        ({"elo0": 0, "elo1": 5, "model": "linear"}, "linear"),
    ],
)
def test_impossible_parameters_are_refused(arguments: dict[str, object], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        Sprt(**arguments)  # type: ignore[arg-type]


def test_the_bayesian_model_refuses_pairs() -> None:
    with pytest.raises(ValueError, match="wins, losses and draws"):
        Sprt(0, 5, model="bayesian").llr((1, 2, 3, 2, 1))
