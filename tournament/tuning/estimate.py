"""How near a tuned value is to the best one: a parabola through the results of pairs.

Near its best value a parameter costs strength by the square of the distance, so that a side that
plays ``p`` against ``m`` is expected to win by ``(p - m) * curvature * (best - (p + m) / 2)``. The
signs of all perturbations are independent, so each parameter has a regression of its own: of what
was won on ``p - m`` and on ``(p - m) * (p + m) / 2``. Its quotient is the best value as the results
show it, and the delta method gives the standard error of that.

The error of the tuned value is that error and the distance to the fitted best together: of
simulated tunes 59 to 69 % end within it (68 % would be right), and the root mean square of distance
over error is 0.99 to 1.07 (`tests/tournament/tuning`). Where the curvature is less than two of its
standard errors, the results show no best value; then there is none to be within an error of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from merels.tournament.tuning.spsa import Trial

LEAST_PAIRS = 10
SURE = 2.0
"""Standard errors of the curvature from which on it counts as seen."""


class Result(NamedTuple):
    """A pair that was played, and how many games more its plus side won than it lost."""

    trial: Trial
    won: int


def standard_errors(results: Sequence[Result], values: Sequence[float]) -> list[float | None]:
    """The standard error of each tuned value, None where the results show no best one.

    The second half of the results counts: before, the parameters were further away.
    """
    late = results[len(results) // 2 :]
    return [
        _error(
            value,
            [(result.trial.plus[index], result.trial.minus[index], result.won) for result in late],
        )
        for index, value in enumerate(values)
    ]


def _error(value: float, pairs: Iterable[tuple[int, int, int]]) -> float | None:
    """The error of one parameter's value, from what both sides played and what was won."""
    n = 0
    xx = xz = zz = xy = zy = yy = 0.0
    for plus, minus, won in pairs:
        x = float(plus - minus)
        z = -x * ((plus + minus) / 2 - value)
        n += 1
        xx += x * x
        xz += x * z
        zz += z * z
        xy += x * won
        zy += z * won
        yy += won * won
    determinant = xx * zz - xz * xz
    if n < LEAST_PAIRS or determinant <= 0:
        return None
    slope = (zz * xy - xz * zy) / determinant
    curvature = (xx * zy - xz * xy) / determinant
    noise = max(0.0, yy - slope * xy - curvature * zy) / (n - 2) / determinant
    if curvature <= SURE * math.sqrt(noise * xx):
        return None
    distance = slope / curvature
    variance = noise * (zz + 2 * distance * xz + distance * distance * xx) / curvature**2
    return math.sqrt(variance + distance * distance)
