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


class EndingCounter:
    """Counts endings one after the other."""

    def __init__(self) -> None:
        self._results: dict[str, list[int]] = {}
        self._lost: dict[str, dict[str, int]] = {}

    def add(self, ending: Ending) -> None:
        """Count a game."""
        for name in (ending.white, ending.black):
            self._lost.setdefault(name, {})
        column = 3 if ending.score is None else int(2 - 2 * ending.score)
        self._results.setdefault(ending.termination, [0, 0, 0, 0])[column] += 1
        loser = {0: ending.black, 2: ending.white}.get(column)
        if loser is not None:
            losses = self._lost[loser]
            losses[ending.termination] = losses.get(ending.termination, 0) + 1

    def counts(self) -> Terminations:
        """The counts so far."""
        names = [name for name in KNOWN if name in self._results]
        names += sorted(set(self._results) - set(KNOWN))
        return Terminations({name: tuple(self._results[name]) for name in names}, self._lost)


def count_terminations(endings: Iterable[Ending]) -> Terminations:
    """Count how games ended and which engine lost in which way."""
    counter = EndingCounter()
    for ending in endings:
        counter.add(ending)
    return counter.counts()
