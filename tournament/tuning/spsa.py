"""Simultaneous perturbation stochastic approximation: the arithmetic of one pair of games.

All parameters are perturbed at once, each up or down at random; whichever side wins, all of them
move a little towards it (J. C. Spall, "Implementation of the simultaneous perturbation algorithm
for stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34, 1998). In
the form that engine testers use a step of each parameter sets its scale, and one rate serves all.

The two values of a parameter lie on either side of a point that is itself perturbed: a step above
or below the value so far. That is no bias, costs next to nothing in noise, and shows how strength
bends around the value. Without it the distance to the best value is unknown (`estimate`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from merels.tournament.records.settings import Parameter, Schedule


class Trial(NamedTuple):
    """A pair of games: the values of each parameter that its two sides play with."""

    plus: tuple[int, ...]
    minus: tuple[int, ...]


def step_at(parameter: Parameter, schedule: Schedule, pair: int, pairs: int) -> float:
    """The perturbation of a parameter in a pair (from 1): c_k."""
    return parameter.c_end * math.pow(pairs / pair, schedule.gamma)


def rate_at(schedule: Schedule, pair: int, pairs: int) -> float:
    """The steps that a pair moves a parameter for each game more that one side wins: a_k/c_k²."""
    stability = schedule.stability * pairs
    decay = math.pow((stability + pairs) / (stability + pair), schedule.alpha)
    return schedule.r_end * decay * math.pow(pair / pairs, 2 * schedule.gamma)


def perturbed(
    parameters: Sequence[Parameter], values: Sequence[float], schedule: Schedule, pair: int,
    pairs: int, seed: int,
) -> Trial:  # fmt: skip
    """The two sides of a pair, around the values so far; the same for the same seed."""
    rng = random.Random(f"merels tune {seed} {pair}")
    sides = []
    for parameter, value in zip(parameters, values):
        step = step_at(parameter, schedule, pair, pairs)
        middle = value + (step if rng.random() < 0.5 else -step)
        if not parameter.minimum <= middle <= parameter.maximum:
            middle = 2 * value - middle
        offset = step if rng.random() < 0.5 else -step
        # One draw for both sides keeps them apart, even where the step is half a unit.
        draw = rng.random()
        sides.append((
            _rounded(middle + offset, parameter, draw), _rounded(middle - offset, parameter, draw)
        ))
    plus, minus = zip(*sides)
    return Trial(plus, minus)


def _rounded(value: float, parameter: Parameter, draw: float) -> int:
    """Round up or down by a draw from [0, 1), so that the mean is the value; within bounds."""
    whole = int((value + draw) // 1)
    return min(parameter.maximum, max(parameter.minimum, whole))


def moved(
    parameters: Sequence[Parameter], values: Sequence[float], schedule: Schedule, pair: int,
    pairs: int, trial: Trial, won: int,
) -> list[float]:  # fmt: skip
    """Return the values after a pair; ``won`` is the plus side's wins minus losses."""
    rate = rate_at(schedule, pair, pairs)
    after = []
    for parameter, value, plus, minus in zip(parameters, values, *trial):
        sign = (plus > minus) - (plus < minus)
        way = rate * step_at(parameter, schedule, pair, pairs) * won * sign
        after.append(min(parameter.maximum, max(parameter.minimum, value + way)))
    return after
