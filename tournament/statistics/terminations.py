"""Counts of how games ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

KNOWN = (
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
)
"""Values of PGN's Termination tag in the order of tables; other values follow, sorted by name."""
BLAMELESS = KNOWN[:2]
"""Terminations that are no engine's fault."""
CAUSES = {
    **dict.fromkeys(
        ("two men", "blocked", "repetition", "three against three", "no removal"), "normal"
    ),
    **dict.fromkeys(
        ("adjudication by tables", "limit of moves", "draw by scores", "resignation by scores"),
        "adjudication",
    ),
    "time": "time forfeit", "illegal move": "illegal move", "crash": "abandoned",
    "stall": "abandoned",
}  # fmt: skip
"""Termination by cause of a game's end, in the order of tables."""
FAULTS = {
    "crash": ("crash", "crashes"), "stall": ("stall", "stalls"),
    "time": ("time forfeit", "time forfeits"), "illegal move": ("illegal move", "illegal moves"),
}
"""Singular and plural names of the causes that are the loser's own fault."""


class Ending(NamedTuple):
    """Players, score and cause of the end of a game."""

    white: str
    """Name of the player; empty if unknown."""
    black: str
    score: float | None
    """White's score; None for an unfinished game."""
    termination: str
    cause: str = ""
    """One of `CAUSES`; empty if unknown."""

    @property
    def reason(self) -> str:
        """Cause, or the termination if the cause is unknown."""
        return self.cause or self.termination

    @property
    def culprit(self) -> str:
        """Name of the engine that lost by its own fault, or ''."""
        if self.score not in (0.0, 1.0) or self.cause not in FAULTS:
            return ""
        return self.black if self.score else self.white


@dataclass(frozen=True, slots=True)
class Terminations:
    """Games by termination or by reason: all of them, and those lost by each engine."""

    results: dict[str, tuple[int, ...]]
    """White wins, draws, Black wins and unfinished games, by termination or reason."""
    lost: dict[str, dict[str, int]]
    """Lost games by engine, in order of appearance, and by termination or reason."""

    @property
    def games(self) -> int:
        """Number of games counted."""
        return sum(map(sum, self.results.values()))

    @property
    def losing(self) -> list[str]:
        """Terminations or reasons by which an engine lost."""
        return [name for name in self.results if any(name in lost for lost in self.lost.values())]


class EndingCounter:
    """Counts endings one at a time, by termination or by reason."""

    def __init__(self, by_reason: bool = False) -> None:
        self._by_reason = by_reason
        self._results: dict[str, list[int]] = {}
        self._lost: dict[str, dict[str, int]] = {}

    def add(self, ending: Ending) -> None:
        """Count a game."""
        white, black, score = ending.white, ending.black, ending.score
        column = 3 if score is None else int(2 - 2 * score)
        kind = ending.reason if self._by_reason else ending.termination
        self._results.setdefault(kind, [0, 0, 0, 0])[column] += 1
        for name in filter(None, (white, black)):
            self._lost.setdefault(name, {})
        loser = black if column == 0 else white if column == 2 else ""
        if loser:
            losses = self._lost[loser]
            losses[kind] = losses.get(kind, 0) + 1

    def counts(self) -> Terminations:
        """Return the counts so far; later games do not change the returned object."""
        listed = (*CAUSES, *KNOWN) if self._by_reason else KNOWN
        names = [name for name in listed if name in self._results]
        names += sorted(set(self._results) - set(listed))
        lost = {name: dict(losses) for name, losses in self._lost.items()}
        return Terminations({name: tuple(self._results[name]) for name in names}, lost)


def count_terminations(endings: Iterable[Ending], by_reason: bool = False) -> Terminations:
    """Count how games ended, by termination or by reason."""
    counter = EndingCounter(by_reason)
    for ending in endings:
        counter.add(ending)
    return counter.counts()
