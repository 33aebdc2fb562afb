"""Settings of a tune: the parameters and the schedule of their steps."""

from __future__ import annotations

from dataclasses import dataclass

STEPS_IN_RANGE = 20
"""The usual ``c_end`` is the range of a parameter, divided by this."""
LEAST_C_END = 0.5
"""With a smaller one rounding would give both sides the same value too often."""
USUAL_R_END = 60.0
"""The usual ``r_end``, times the number of pairs: a parameter that costs 2 Elo at a distance of
``c_end`` from its best value is brought nearer to it by some e³ in the whole tune."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A spin option that is tuned: where it starts, its bounds, and how far it is perturbed.

    ``c_end`` is the size of the perturbation at the end of the tune.
    """

    name: str
    start: int
    minimum: int
    maximum: int
    c_end: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """How far parameters are perturbed and moved, pair by pair, in the usual letters of SPSA.

    ``r_end`` is how far a game won moves a parameter at the end of the tune, in its ``c_end``;
    ``stability`` (A) is a share of the number of pairs.
    """

    r_end: float
    stability: float = 0.1
    alpha: float = 0.602
    gamma: float = 0.101


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tune of one engine, by as many pairs as its settings have rounds."""

    parameters: tuple[Parameter, ...]
    schedule: Schedule
