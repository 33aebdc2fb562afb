"""Results of the rounds of a Swiss or knockout tournament, from its journal."""

from __future__ import annotations

from collections import Counter, defaultdict

from merels.tournament.journal.rows import Row
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.games import PairingResult
from merels.tournament.records.settings import Settings


class PastRounds:
    """Pairings and points of the rounds, computed from the added games."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._games: Counter[int] = Counter()
        self._points: defaultdict[tuple[int, str], float] = defaultdict(float)

    def add(self, row: Row) -> None:
        """Add a journaled game."""
        self._games[row.round] += 1
        if row.white_score is not None:
            self._points[row.round, row.white] += row.white_score
            self._points[row.round, row.black] += 1 - row.white_score

    def results(self) -> tuple[list[list[PairingResult]], bool]:
        """Return the results of the rounds, and whether the last of them is unfinished.

        An unfinished round has the points so far. A knockout match has one result per round, even
        if it plays its pairing several times.
        """
        settings, points = self.settings, self._points
        schedule = schedule_for(settings)
        names = [entrant.name for entrant in settings.engines]
        results: list[list[PairingResult]] = []
        while pairings := list(schedule.pair(settings, len(results), results)):
            number = len(results) + 1
            results.append([
                # An engine has one opponent per round, so its points belong to one pairing.
                PairingResult(pairing, (
                    points[number, names[pairing.first]], points[number, names[pairing.second]]
                ))
                for pairing in {frozenset(pairing): pairing for pairing in pairings}.values()
            ])
            if self._games[number] < len(pairings) * settings.games:
                return results, True
        return results, False
