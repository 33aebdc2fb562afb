"""What schedules are made of and made from: encounters, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Encounter(NamedTuple):
    """Two engines, by index, that meet; ``first`` has White in the first game."""

    first: int
    second: int


class Met(NamedTuple):
    """A finished encounter: who met, and the points of the first and of the second."""

    encounter: Encounter
    points: tuple[float, float]


Results = Sequence[Sequence[Met]]
"""The finished encounters, round by round."""
