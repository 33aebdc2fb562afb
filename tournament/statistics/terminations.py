"""How the games of a tournament ended, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

KNOWN = (
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
)
"""The values of PGN's Termination tag, in the order they are listed; others follow by name."""
BLAMELESS = KNOWN[:2]
"""Those that are no engine's fault."""
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
"""Causes of a game's end, in the order they are listed, with their terminations."""
FAULTS = {
    "crash": ("crash", "crashes"), "stall": ("stall", "stalls"),
    "time": ("time forfeit", "time forfeits"), "illegal move": ("illegal move", "illegal moves"),
}
"""Those of `CAUSES` that are the loser's fault: one of them and several in words."""


class Ending(NamedTuple):
    """How one game ended; ``score`` is White's, None for a game that did not finish.

    ``cause`` is one of `CAUSES`, empty if unknown. An empty name stands for an unknown player.
    """

    white: str
    black: str
    score: float | None
    termination: str
    cause: str = ""

    @property
    def reason(self) -> str:
        """The cause, or, where that is unknown, the termination."""
        return self.cause or self.termination

    @property
    def culprit(self) -> str:
        """The name of an engine that lost by its own fault; empty if none did."""
        if self.score not in (0.0, 1.0) or self.cause not in FAULTS:
            return ""
        return self.black if self.score else self.white


@dataclass(frozen=True, slots=True)
class Terminations:
    """Games by termination, or by reason, in all and lost by each engine."""

    results: dict[str, tuple[int, ...]]
    """By termination that occurred: White wins, draws, Black wins, unfinished."""
    lost: dict[str, dict[str, int]]
    """By engine, in order of appearance, then termination: the games it lost that way."""

    @property
    def games(self) -> int:
        """The number of games counted."""
        return sum(map(sum, self.results.values()))

    def relabelled(self, labels: Mapping[str, str]) -> Terminations:
        """Return a copy with other names; one new name may cover several."""
        lost: dict[str, dict[str, int]] = {}
        for name, losses in self.lost.items():
            own = lost.setdefault(labels[name], {})
            for kind, count in losses.items():
                own[kind] = own.get(kind, 0) + count
        return Terminations(self.results, lost)

    @property
    def losing(self) -> list[str]:
        """Those of the terminations or reasons that an engine lost by."""
        return [name for name in self.results if any(name in lost for lost in self.lost.values())]


class EndingCounter:
    """Counts endings one after the other, by termination or by reason."""

    def __init__(self, by_reason: bool = False) -> None:
        self._by_reason = by_reason
        self._results: dict[str, list[int]] = {}
        self._lost: dict[str, dict[str, int]] = {}

    def add(self, ending: Ending) -> None:
        """Count a game."""
        white, black, score = ending.white, ending.black, ending.score
        column = 3 if score is None else int(2 - 2 * score)
        kind = ending.reason if self._by_reason else ending.termination
        results = self._results.get(kind)
        if results is None:
            results = self._results[kind] = [0, 0, 0, 0]
        results[column] += 1
        for name in (white, black):
            if name not in self._lost and name:
                self._lost[name] = {}
        loser = black if column == 0 else white if column == 2 else ""
        if loser:
            losses = self._lost[loser]
            losses[kind] = losses.get(kind, 0) + 1

    def counts(self) -> Terminations:
        """The counts so far, which later games do not change."""
        known = (*CAUSES, *KNOWN) if self._by_reason else KNOWN
        names = [name for name in known if name in self._results]
        names += sorted(set(self._results) - set(known))
        lost = {name: dict(losses) for name, losses in self._lost.items()}
        return Terminations({name: tuple(self._results[name]) for name in names}, lost)


def count_terminations(endings: Iterable[Ending], by_reason: bool = False) -> Terminations:
    """Count how games ended and which engine lost in which way."""
    counter = EndingCounter(by_reason)
    for ending in endings:
        counter.add(ending)
    return counter.counts()
