"""SPSA (simultaneous perturbation stochastic approximation): the formulas for one game pair.

In each pair, all parameters are perturbed at once, each up or down at random. All of them then move
towards the values of the side that won the pair (J. C. Spall, "Implementation of the simultaneous
perturbation algorithm for stochastic optimization", IEEE Transactions on Aerospace and Electronic
Systems 34, 1998). As is usual for chess engines, each parameter has its own final perturbation
c_end, and all parameters share one final rate r_end.

Unlike plain SPSA, the midpoint of the two values is also perturbed: it lies one step above or below
the current value. Away from the bounds, this adds no bias, and almost no noise. It allows
`estimate` to measure the curvature, without which the distance to the best value is unknown.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from merels.tournament.records.settings import Parameter, Schedule


class Trial(NamedTuple):
    """The parameter values of the two sides of a game pair, in the order of the parameters."""

    plus: tuple[int, ...]
    minus: tuple[int, ...]


def step_at(parameter: Parameter, schedule: Schedule, pair: int, pairs: int) -> float:
    """Return the perturbation c_k of a parameter in pair k; ``pair`` counts from 1."""
    return parameter.c_end * math.pow(pairs / pair, schedule.gamma)


def rate_at(schedule: Schedule, pair: int, pairs: int) -> float:
    """Return a_k/c_k²: how far a pair moves a parameter, in units of c_k per win minus loss."""
    stability = schedule.stability * pairs
    decay = math.pow((stability + pairs) / (stability + pair), schedule.alpha)
    return schedule.r_end * decay * math.pow(pair / pairs, 2 * schedule.gamma)


def perturbed(
    parameters: Sequence[Parameter], values: Sequence[float], schedule: Schedule, pair: int,
    pairs: int, seed: int,
) -> Trial:  # fmt: skip
    """Return both sides' values for a pair, drawn around ``values`` by ``seed`` and ``pair``."""
    rng = random.Random(f"merels tune {seed} {pair}")
    sides = []
    for parameter, value in zip(parameters, values):
        step = step_at(parameter, schedule, pair, pairs)
        middle = value + (step if rng.random() < 0.5 else -step)
        if not parameter.minimum <= middle <= parameter.maximum:
            middle = 2 * value - middle
        offset = step if rng.random() < 0.5 else -step
        # Rounding with one draw keeps the sides different even if the step is only 0.5.
        draw = rng.random()
        sides.append((
            _rounded(middle + offset, parameter, draw), _rounded(middle - offset, parameter, draw)
        ))
    plus, minus = zip(*sides)
    return Trial(plus, minus)


def _rounded(value: float, parameter: Parameter, draw: float) -> int:
    """Return ``value`` rounded up or down, within the bounds of the parameter.

    ``draw``: a uniform random number from [0, 1), so that the mean is ``value`` within the bounds.
    """
    whole = int((value + draw) // 1)
    return min(parameter.maximum, max(parameter.minimum, whole))


def updated(
    parameters: Sequence[Parameter], values: Sequence[float], schedule: Schedule, pair: int,
    pairs: int, trial: Trial, net_wins: int,
) -> list[float]:  # fmt: skip
    """Return the values after a pair; ``net_wins``: the plus side's wins minus its losses."""
    rate = rate_at(schedule, pair, pairs)
    after = []
    for parameter, value, plus, minus in zip(parameters, values, *trial):
        sign = (plus > minus) - (plus < minus)
        change = rate * step_at(parameter, schedule, pair, pairs) * net_wins * sign
        after.append(min(parameter.maximum, max(parameter.minimum, value + change)))
    return after
