"""The standings while a tournament runs: counts, added to game by game."""

from __future__ import annotations

from merels.tournament.journal.rows import Row
from merels.tournament.statistics.counts import (
    Counts,
    GameScore,
    MatchCounter,
    MatchCounts,
    counts_between,
)


class Standings:
    """The results so far; every figure follows from the rows that were added."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.finished = 0
        """How many games there were; those without a result count nowhere else."""
        self._matches = MatchCounter()

    @property
    def matches(self) -> Counts:
        """The counts of every match; empty until a game has a result."""
        return self._matches.counts

    def add(self, row: Row) -> None:
        """Count a finished game."""
        self.finished += 1
        if row.white_score is not None:
            self._matches.add(GameScore(row.white, row.black, row.white_score, row.pair))

    def counts(self, first: str, second: str) -> MatchCounts:
        """The counts of the games between two engines, seen from the first."""
        return counts_between(self.matches, first, second)

    def match(self, one: str, other: str) -> tuple[str, str]:
        """The two engines in the order in which they were entered."""
        return (one, other) if self.names.index(one) < self.names.index(other) else (other, one)
