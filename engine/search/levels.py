"""Built-in strength levels: how deep a level searches, and how far its evaluation errs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from merels.engine.game.errors import InputError, suggestion
from merels.engine.game.numbers import parse_whole


@dataclass(frozen=True, slots=True)
class Level:
    """A strength level.

    ``elo`` is its rating among the levels; ``nodes`` bounds a search. ``noise`` is half the width
    of a random error in every evaluation; ``greed`` and ``freedom`` are added for each man and each
    possible step that it has more than the opponent, all in hundredths of a man.
    The errors depend on ``seed``: one seed always plays the same, many make a varied opponent.
    """

    name: str
    elo: int
    nodes: int
    noise: int
    greed: int = 0
    freedom: int = 0
    style: str = ""
    seed: int = 0


LEVELS: tuple[Level, ...] = (
    Level("Beginner", 800, 60, 250, 0, 0, "sees a mill when it is there, and little else"),
    Level("Casual", 1120, 200, 130, 60, 0, "greedy: any man is worth the trouble"),
    Level("Club", 1375, 700, 70, 0, 12, "restless: above all keeps its men free"),
    Level("Expert", 1495, 2_000, 35, 20, 4, "classical: men first, then room to move"),
    Level("Master", 1585, 10_000, 8, -10, 4, "patient: gives up a man to block others"),
    Level("Champion", 1670, 400_000, 0, 0, 0, "plays what the position asks for"),
)
"""From weakest to strongest. The ratings are those of the round robin in HISTORY.md, rounded to
five; tests/data/levels.csv has its games."""

MINIMUM_ELO = LEVELS[0].elo
MAXIMUM_ELO = LEVELS[-1].elo
MAXIMUM_SEED = 1_000_000_000


def any_seed() -> int:
    """A random seed for one game, so that nobody beats a level twice by the same moves."""
    return int.from_bytes(os.urandom(8)) % (MAXIMUM_SEED + 1)


def level_named(text: str, also: str = "") -> Level:
    """The level of that name, in any case, or rating; `InputError` for anything else.

    ``also`` is a word that the caller knows besides, to be named among those expected.
    """
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


def level_for(elo: int) -> Level:
    """A level of that rating, interpolated between the named ones."""
    elo = max(MINIMUM_ELO, min(MAXIMUM_ELO, elo))
    at = next(index for index, level in enumerate(LEVELS) if elo <= level.elo)
    high = LEVELS[at]
    if elo == high.elo:
        return high
    low = LEVELS[at - 1]
    share = (elo - low.elo) / (high.elo - low.elo)

    def between(start: int, end: int) -> int:
        return round(start + (end - start) * share)

    return Level(
        f"Elo {elo}",
        elo,
        round(low.nodes * (high.nodes / low.nodes) ** share),
        between(low.noise, high.noise),
        between(low.greed, high.greed),
        between(low.freedom, high.freedom),
        low.style if share < 0.5 else high.style,
    )
