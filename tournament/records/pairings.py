"""Pairings, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Pairing(NamedTuple):
    """Two engines, by their index in the settings; ``first`` has White in the first game."""

    first: int
    second: int


class PairingResult(NamedTuple):
    """A pairing whose games are over: the points of the first and of the second engine."""

    pairing: Pairing
    points: tuple[float, float]


Results = Sequence[Sequence[PairingResult]]
"""The finished pairings, round by round."""
