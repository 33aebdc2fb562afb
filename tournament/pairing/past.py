"""The rounds of a tournament that pairs by results, read back from its journaled games."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from merels.tournament.journal.rows import Row
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.games import PairingResult
from merels.tournament.records.settings import Settings


def past_rounds(
    settings: Settings, rows: Iterable[Row]
) -> tuple[list[list[PairingResult]], bool]:
    """The results of each round that has games, and whether the last of them is unfinished.

    A match of a knockout that plays its pairing several times in a round has one result there.
    """
    schedule = schedule_for(settings)
    names = [entrant.name for entrant in settings.engines]
    games: Counter[int] = Counter()
    points: defaultdict[tuple[int, str], float] = defaultdict(float)
    for row in rows:
        games[row.round] += 1
        if row.white_score is not None:
            points[row.round, row.white] += row.white_score
            points[row.round, row.black] += 1 - row.white_score
    results: list[list[PairingResult]] = []
    while pairings := schedule.pair(settings, len(results), results):
        number = len(results) + 1
        results.append([
            # Nobody has two opponents in a round.
            PairingResult(pairing, (points[number, names[first]], points[number, names[second]]))
            for pairing in {frozenset(pairing): pairing for pairing in pairings}.values()
            for first, second in [pairing]
        ])
        if games[number] < len(pairings) * settings.games:
            return results, True
    return results, False
