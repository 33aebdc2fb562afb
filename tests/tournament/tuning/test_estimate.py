"""Standard errors of tuned values: least squares, the delta method, and results without optimum."""

from __future__ import annotations

import math
import random

import pytest

from merels.tournament.tuning.estimate import Result, standard_errors
from merels.tournament.tuning.spsa import Trial


def test_the_error_is_that_of_the_best_value_of_a_fitted_parabola() -> None:
    chance = random.Random(2)
    value, best, results = 50.0, 53.0, []
    for _ in range(400):
        middle, half = chance.randint(30, 70), chance.randint(3, 9)
        plus, minus = middle + half, middle - half
        gain = -0.004 * ((plus - best) ** 2 - (minus - best) ** 2)
        won = 1 if chance.random() < 0.5 + gain / 2 else -1
        results.append(Result(Trial((plus,), (minus,)), won))
    rows = [
        (float(plus - minus), -float(plus - minus) * ((plus + minus) / 2 - value), float(won))
        for ((plus,), (minus,)), won in results[200:]
    ]
    # Least squares of won = slope * x + curvature * z. The distance from the tuned value to the
    # best value is slope / curvature.
    a, b, c = (sum(products) for products in zip(*((x * x, x * z, z * z) for x, z, _ in rows)))
    u, v = sum(x * won for x, _, won in rows), sum(z * won for _, z, won in rows)
    determinant = a * c - b * b
    inverse = [[c / determinant, -b / determinant], [-b / determinant, a / determinant]]
    slope = inverse[0][0] * u + inverse[0][1] * v
    curvature = inverse[1][0] * u + inverse[1][1] * v
    noise = sum((won - slope * x - curvature * z) ** 2 for x, z, won in rows) / (len(rows) - 2)
    gradient = (1 / curvature, -slope / curvature**2)
    variance = noise * sum(
        gradient[i] * inverse[i][j] * gradient[j] for i in range(2) for j in range(2)
    )
    [error] = standard_errors(results, [value])
    assert error == pytest.approx(math.sqrt(variance + (slope / curvature) ** 2))


def parabola(pairs: int, sign: int) -> list[Result]:
    """Return results on a parabola about 50: a hill if ``sign`` is 1, a valley if it is -1."""
    results = []
    for number in range(pairs):
        middle = (45, 48, 53, 56)[number % 4]
        results.append(Result(Trial((middle + 5,), (middle - 5,)), sign * (50 - middle)))
    return results


def test_an_error_needs_ten_pairs_in_the_second_half_of_the_results() -> None:
    assert standard_errors(parabola(18, 1), [50.0]) == [None]
    assert standard_errors(parabola(20, 1), [50.0]) != [None]


def test_a_valley_has_no_error() -> None:
    assert standard_errors(parabola(400, -1), [50.0]) == [None]


def test_pairs_with_one_midpoint_have_no_error() -> None:
    assert standard_errors([Result(Trial((60,), (40,)), 1)] * 40, [50.0]) == [None]
