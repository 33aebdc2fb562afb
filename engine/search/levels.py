"""Built-in strength levels: the limits of a level's search and the errors of its evaluation."""

from __future__ import annotations

import os
from dataclasses import dataclass

from merels.engine.common.errors import InputError, required_text, suggestion
from merels.engine.common.numbers import parse_whole, whole_number
from merels.engine.game.position import Position
from merels.engine.search.limits import MAX_COUNT

MAXIMUM_SEED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Level:
    """A strength level.

    elo         rating among the levels
    nodes       node limit of a search
    oversight   chance in percent, for each point at each ply after the root, that the search misses
                all moves to it from that ply on
    insight     percent of the evaluation that counts
    noise       mean half-width of a random error, less 1, in hundredths of a man
    greed       hundredths of a man added for each man more than the opponent has
    freedom     hundredths of a man added for each possible step more than the opponent has
    style       description of the play for people
    seed        seed of the errors; in one position, equal seeds give equal errors

    `InputError` for a field of another type or outside its bounds.
    """

    name: str
    elo: int
    nodes: int
    oversight: int
    insight: int
    noise: int
    greed: int = 0
    freedom: int = 0
    style: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        required_text(self.name, "the name of a level")
        required_text(self.style, "the style of a level")
        for field, (low, high) in _BOUNDS.items():
            object.__setattr__(self, field, whole_number(getattr(self, field), low, high, field))


_BOUNDS = {
    "elo": (0, 10_000), "nodes": (1, MAX_COUNT), "oversight": (0, 100), "insight": (0, 100),
    "noise": (0, 10_000), "greed": (-10_000, 10_000), "freedom": (-10_000, 10_000),
    "seed": (0, MAXIMUM_SEED),
}  # fmt: skip
"""Least and greatest values of the fields of a level."""

LEVELS: tuple[Level, ...] = (
    Level("Beginner", 800, 60, 90, 0, 15, 200, 10, "sees a mill when it is there, and little else"),
    Level("Casual", 1170, 100, 60, 5, 15, 120, 0, "greedy: any man is worth the trouble"),
    Level("Club", 1385, 700, 35, 40, 15, 30, 12, "restless: above all keeps its men free"),
    Level("Expert", 1650, 2_000, 12, 80, 12, 20, 4, "classical: men first, then room to move"),
    Level("Master", 1875, 10_000, 2, 100, 8, -10, 4, "patient: gives up a man to block others"),
    Level("Champion", 2035, 400_000, 0, 100, 0, 0, 0, "plays what the position asks for"),
)
"""The named levels from weakest to strongest.

Their ratings come from the round robin whose games are in tests/data/levels.csv, rounded to a
multiple of 5; Beginner is set to 800.
"""

MINIMUM_ELO = LEVELS[0].elo
MAXIMUM_ELO = LEVELS[-1].elo

Errors = tuple[int, int, int, int, int, int]
"""Arguments of the core: a level's insight, greed, freedom, noise and oversight, and a seed."""

_OPENING_HANDS = 11
"""Least number of men in hand of both sides together at which a level without noise gets some."""
_OPENING_NOISE = 20
"""Noise that varies the openings of a level without noise, in hundredths of a man."""


def any_seed() -> int:
    """Return a random seed for one game, so that a level varies its play between games."""
    return 1 + int.from_bytes(os.urandom(8)) % MAXIMUM_SEED


def level_named(text: str, also: str = "") -> Level:
    """Return the level with this name, in upper or lower case, or with this rating.

    `InputError` lists the names, and ``also``, one more word that the caller accepts.
    """
    required_text(text, f"a level such as {LEVELS[0].name}, or its rating")
    for level in LEVELS:
        if level.name.lower() == text.lower():
            return level
    elo = parse_whole(text)
    if elo is not None and MINIMUM_ELO <= elo <= MAXIMUM_ELO:
        return level_for(elo)
    names = [*(level.name for level in LEVELS), *filter(None, [also])]
    raise InputError(
        text,
        f"expected {', '.join(names)}, or a rating from {MINIMUM_ELO} to {MAXIMUM_ELO}"
        f"{suggestion(text, names)}",
    )


def read_level(level: object) -> Level | None:
    """Return a `Level`, the level of a name, or None; `InputError` for anything else."""
    if level is None or isinstance(level, Level):
        return level
    return level_named(level)  # type: ignore[arg-type]


def level_for(elo: int) -> Level:
    """Return a level with this rating, interpolated between the named levels.

    A rating outside their range gives the weakest or the strongest level.
    """
    elo = max(MINIMUM_ELO, min(MAXIMUM_ELO, elo))
    index = next(index for index, level in enumerate(LEVELS) if elo <= level.elo)
    high = LEVELS[index]
    if elo == high.elo:
        return high
    low = LEVELS[index - 1]
    share = (elo - low.elo) / (high.elo - low.elo)

    def interpolated(start: int, end: int) -> int:
        return round(start + (end - start) * share)

    return Level(
        f"Elo {elo}",
        elo,
        round(low.nodes * (high.nodes / low.nodes) ** share),
        interpolated(low.oversight, high.oversight),
        interpolated(low.insight, high.insight),
        interpolated(low.noise, high.noise),
        interpolated(low.greed, high.greed),
        interpolated(low.freedom, high.freedom),
        low.style if share < 0.5 else high.style,
    )


def errors_of(level: Level | None, position: Position) -> Errors | None:
    """Return a level's errors in a position as arguments of the core; None: no errors."""
    if level is None:
        return None
    opening = sum(position.hands) >= _OPENING_HANDS
    noise = _OPENING_NOISE if opening and not level.noise else level.noise
    errors = (level.insight, level.greed, level.freedom, noise, level.oversight)
    if errors == (100, 0, 0, 0, 0):
        return None
    seed = level.seed * 0x9E3779B97F4A7C15
    if level.oversight:
        seed ^= position.key  # The points that are overlooked differ between positions.
    return (*errors, seed & (1 << 64) - 1)
