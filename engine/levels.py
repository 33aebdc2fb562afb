"""Built-in strength levels: how far a level looks, and how often its eye deceives it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """A strength level.

    ``nodes`` bounds each search; ``noise`` is the half-width, in hundredths of a man, of a random
    error in every evaluation. ``elo`` is its rating among the levels.
    """

    name: str
    elo: int
    nodes: int
    noise: int


LEVELS: tuple[Level, ...] = (
    Level("Beginner", 800, 60, 250),
    Level("Casual", 1100, 250, 120),
    Level("Club", 1400, 1_000, 60),
    Level("Expert", 1700, 5_000, 20),
    Level("Master", 2000, 40_000, 0),
    Level("Champion", 2300, 400_000, 0),
)
"""From weakest to strongest."""

MINIMUM_ELO = LEVELS[0].elo
MAXIMUM_ELO = LEVELS[-1].elo


def level_for(elo: int) -> Level:
    """A level of that rating, interpolated between the named ones."""
    elo = max(MINIMUM_ELO, min(MAXIMUM_ELO, elo))
    for low, high in zip(LEVELS, LEVELS[1:]):
        if elo <= high.elo:
            share = (elo - low.elo) / (high.elo - low.elo)
            nodes = round(low.nodes * (high.nodes / low.nodes) ** share)
            noise = round(low.noise + (high.noise - low.noise) * share)
            name = low.name if elo == low.elo else high.name if elo == high.elo else f"Elo {elo}"
            return Level(name, elo, nodes, noise)
    return LEVELS[-1]
