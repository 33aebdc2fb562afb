"""How the games of a tournament ended, counted."""

from __future__ import annotations

from collections import Counter
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
    "stalls": "stall", "withdrawn": "withdrawn",
}  # fmt: skip
"""What the sentence that a game ended with contains, and what it is counted as."""


class Ending(NamedTuple):
    """How one game ended; ``score`` is White's, None for a game that did not finish.

    ``sentence`` is what the runner said of it. An empty name is of nobody.
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
        """The same with other names, of which one may stand for several."""
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
        self._games: Counter[tuple[str, str, int, str]] = Counter()
        """By White, Black, the column of the result, and termination or reason."""

    def add(self, ending: Ending) -> None:
        """Count a game."""
        column = 3 if ending.score is None else int(2 - 2 * ending.score)
        kind = ending.reason if self._by_reason else ending.termination
        self._games[ending.white, ending.black, column, kind] += 1

    def counts(self) -> Terminations:
        """The counts so far."""
        results: dict[str, list[int]] = {}
        lost: dict[str, dict[str, int]] = {}
        for (white, black, column, kind), games in self._games.items():
            for name in filter(None, (white, black)):
                lost.setdefault(name, {})
            results.setdefault(kind, [0, 0, 0, 0])[column] += games
            if loser := {0: black, 2: white}.get(column):
                lost[loser][kind] = lost[loser].get(kind, 0) + games
        known = (*dict.fromkeys(REASONS.values()), *KNOWN) if self._by_reason else KNOWN
        names = [name for name in known if name in results]
        names += sorted(set(results) - set(known))
        return Terminations({name: tuple(results[name]) for name in names}, lost)


def count_terminations(endings: Iterable[Ending], by_reason: bool = False) -> Terminations:
    """Count how games ended and which engine lost in which way."""
    counter = EndingCounter(by_reason)
    for ending in endings:
        counter.add(ending)
    return counter.counts()
