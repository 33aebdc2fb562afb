"""How the games of a tournament ended, counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

KNOWN = (
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
)
"""The values of PGN's Termination tag, in the order they are listed; others follow by name."""
BLAMELESS = KNOWN[:2]
"""Those that are no engine's fault."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How one game ended; ``score`` is White's, None for a game that did not finish."""

    white: str
    black: str
    score: float | None
    termination: str


@dataclass(frozen=True, slots=True)
class Terminations:
    """Games by termination, in all and lost by each engine."""

    results: dict[str, tuple[int, ...]]
    """By termination that occurred: White wins, draws, Black wins, unfinished."""
    lost: dict[str, dict[str, int]]
    """By engine, in order of appearance, then termination: the games it lost that way."""

    @property
    def games(self) -> int:
        """The number of games counted."""
        return sum(map(sum, self.results.values()))


def count_terminations(endings: Iterable[Ending]) -> Terminations:
    """Count how games ended and which engine lost in which way."""
    results: dict[str, list[int]] = {}
    lost: dict[str, dict[str, int]] = {}
    for ending in endings:
        for name in (ending.white, ending.black):
            lost.setdefault(name, {})
        column = 3 if ending.score is None else int(2 - 2 * ending.score)
        results.setdefault(ending.termination, [0, 0, 0, 0])[column] += 1
        loser = {0: ending.black, 2: ending.white}.get(column)
        if loser is not None:
            losses = lost[loser]
            losses[ending.termination] = losses.get(ending.termination, 0) + 1
    names = [name for name in KNOWN if name in results]
    names += sorted(set(results) - set(KNOWN))
    return Terminations({name: tuple(results[name]) for name in names}, lost)
