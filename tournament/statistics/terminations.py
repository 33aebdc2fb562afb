"""How the games of a tournament ended, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

KNOWN = (
    "normal", "adjudication", "time forfeit", "illegal move", "abandoned", "unterminated"
)
"""The values of PGN's Termination tag, in the order they are listed; others follow by name."""
BLAMELESS = KNOWN[:2]
"""Those that are no engine's fault."""
REASONS = {
    "has two men": "two men", "is blocked": "blocked", "no move left": "no move left",
    "repetition": "repetition", "three against three": "three against three",
    "no-removal": "no removal", "Draw by adjudication: tables": "adjudication by tables",
    "wins by adjudication: tables": "adjudication by tables",
    "Draw by adjudication (": "limit of moves", "Draw by adjudication": "draw by scores",
    "wins by adjudication": "resignation by scores", "loses on time": "time",
    "illegal move": "illegal move", "does not start": "no start", "disconnects": "crash",
    "stalls": "stall",
}  # fmt: skip
"""Words in the sentence of a game's end, and the kind that it counts as."""
FAULTS = {
    "crash": ("crash", "crashes"), "stall": ("stall", "stalls"),
    "time": ("time forfeit", "time forfeits"), "illegal move": ("illegal move", "illegal moves"),
}
"""Those of `REASONS` that are the loser's fault: one of them and several in words."""


class Ending(NamedTuple):
    """How one game ended; ``score`` is White's, None for a game that did not finish.

    ``sentence`` is the runner's text. An empty name stands for an unknown player.
    """

    white: str
    black: str
    score: float | None
    termination: str
    sentence: str = ""

    @property
    def reason(self) -> str:
        """One of `REASONS`, by what comes first in the sentence; else the termination.

        Behind it there may be an engine's own words.
        """
        return _reason_in(self.sentence) or self.termination

    @property
    def culprit(self) -> str:
        """The name of an engine that lost by its own fault; empty if none did."""
        if self.score not in (0.0, 1.0) or self.reason not in FAULTS:
            return ""
        return self.black if self.score else self.white


@lru_cache(maxsize=4096)
def _reason_in(sentence: str) -> str:
    """The one of `REASONS` that comes first in a sentence; empty if there is none."""
    places = ((sentence.find(words), -len(words), words) for words in REASONS)
    first = min((place for place in places if place[0] >= 0), default=None)
    return "" if first is None else REASONS[first[2]]


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
        known = (*dict.fromkeys(REASONS.values()), *KNOWN) if self._by_reason else KNOWN
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
