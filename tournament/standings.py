"""The state of a tournament while it runs: scores and counts, added to game by game."""

from __future__ import annotations

from dataclasses import fields
from sys import intern

from merels.tournament.counts import GameScore, MatchCounts, count_match
from merels.tournament.store import Row


class Standings:
    """What the games so far say; every figure follows from the rows that were added."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.games: list[GameScore] = []
        self.broken_off = 0
        """Games without a result; they count nowhere."""
        self._counts: dict[tuple[str, str], MatchCounts] = {}
        self._open: dict[tuple[tuple[str, str], int], list[GameScore]] = {}

    @property
    def finished(self) -> int:
        """How many games there were, those without a result included."""
        return len(self.games) + self.broken_off

    def add(self, row: Row) -> None:
        """Count a finished game."""
        score = row.white_score
        if score is None:
            self.broken_off += 1
            return
        # The names are those of the settings, not copies that each row brought from its worker.
        game = GameScore(intern(row.white), intern(row.black), score, row.pair)
        self.games.append(game)
        match = self.match(row.white, row.black)
        pair = self._open.setdefault((match, row.pair), [])
        before = count_match(pair, *match)
        pair.append(game)
        after = count_match(pair, *match)
        self._counts[match] = _changed(self.counts(*match), before, after)
        if len(pair) == 2:
            del self._open[match, row.pair]

    def counts(self, first: str, second: str) -> MatchCounts:
        """The counts of the games between two engines, seen from the first."""
        match = self.match(first, second)
        counts = self._counts.get(match, MatchCounts())
        return counts if match[0] == first else counts.reversed()

    def match(self, one: str, other: str) -> tuple[str, str]:
        """The two engines in the order in which they were entered."""
        return (one, other) if self.names.index(one) < self.names.index(other) else (other, one)


def _changed(total: MatchCounts, before: MatchCounts, after: MatchCounts) -> MatchCounts:
    """The total with one part's old counts exchanged for its new ones."""
    return MatchCounts(
        **{
            name: getattr(total, name) - getattr(before, name) + getattr(after, name)
            for name in (field.name for field in fields(MatchCounts))
        }
    )
