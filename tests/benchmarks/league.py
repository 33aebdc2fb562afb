"""Number of games that a league and a round robin need for the same rating errors, by simulation.

    python -m tests.benchmarks.league [ERROR [RUNS]]

In each of RUNS runs (default 6), players of known strengths meet until all pairs have met and every
rating error is at most ERROR Elo (default 40). Errors are those of the rating list: about the mean
of the anchors or, without anchors, of all players.

The benchmark also prints the processor time in which a league of `PLAYERS` chooses a game pair.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from merels.tournament.league.choice import Choice, Field, Pair
from merels.tournament.statistics.counts import GameScore, MatchCounter
from merels.tournament.statistics.elo import ELO_UNIT
from merels.tournament.statistics.ratings import rate

DRAWS = 0.4
"""Share of draws between equal players."""
AT_ONCE = 4
"""Pairs chosen before the results of any of them are known, as for parallel workers."""
PLAYERS, CHOICES = 300, 300
LEVEL_ELOS = (800, 1170, 1385, 1650, 1875, 2035)


class Strengths(NamedTuple):
    """Known strengths of players, and the indices of the anchors."""

    elos: Sequence[float]
    anchors: Sequence[int] = ()


_TWELVE_ELOS = (800, 1000, 1170, 1385, 1500, 1650, 1700, 1875, 1950, 2035, 2100, 2150)
FIELDS = {
    "6 players over 1235 Elo": Strengths(LEVEL_ELOS, range(6)),
    "12 players over 1350 Elo": Strengths(
        _TWELVE_ELOS, [_TWELVE_ELOS.index(elo) for elo in LEVEL_ELOS]
    ),
    "20 players over 1520 Elo": Strengths(range(800, 2400, 80), range(2, 20, 4)),
    "12 players over 110 Elo": Strengths(range(1500, 1620, 10)),
}


def games_needed(players: Strengths, error: float, seed: int, is_league: bool) -> int:
    """Return the games after which all pairs have met and every error is at most ``error`` Elo."""
    chance, elos = random.Random(seed), players.elos
    names = [f"player {index}" for index in range(len(elos))]
    all_pairs = list(combinations(range(len(elos)), 2))
    unmet = set(all_pairs)
    counter = MatchCounter()
    games: dict[Pair, int] = {}
    points: dict[Pair, float] = {}
    wanted, pairs_played = list(range(len(elos))), 0
    while wanted or unmet:
        chosen = all_pairs
        if is_league:
            origins = [
                index for index in players.anchors if any(index in pair for pair in games)
            ]
            field = Field(len(elos), games, points, origins)
            chosen = Choice(field, range(len(elos))).next(AT_ONCE, wanted, unmet)
        for pair in chosen:
            pairs_played += 1
            for white, black in (pair, pair[::-1]):
                score = score_of(chance, elos[white] - elos[black])
                counter.add(GameScore(names[white], names[black], score, pairs_played))
                games[pair] = games.get(pair, 0) + 1
                points[pair] = points.get(pair, 0.0) + (score if white < black else 1 - score)
        unmet.difference_update(chosen)
        anchors = {
            names[index]: elos[index] for index in players.anchors
            if any(index in pair for pair in games)
        }
        errors = {player.name: player.error for player in rate(counter.counts, anchors).players}
        wanted = [
            index for index, name in enumerate(names) if errors.get(name, math.inf) > error
        ]
    return 2 * pairs_played


def score_of(chance: random.Random, ahead: float) -> float:
    """Return White's random score in a game against a player that is ``ahead`` Elo weaker."""
    expected = 0.5 + 0.5 * math.tanh(ahead / ELO_UNIT / 2)
    draws = DRAWS * 4 * expected * (1 - expected)
    number = chance.random()
    if number < draws:
        return 0.5
    return float(number < draws + expected - draws / 2)


def time_of_choice() -> float:
    """Return the mean processor time of a choice, in seconds.

    There are `PLAYERS` players, and half of the pairs have met.
    """
    chance, games = random.Random(1), dict[Pair, int]()
    for pair in combinations(range(PLAYERS), 2):
        if chance.random() < 0.5:
            games[pair] = 2
    points = {pair: chance.choice((0.0, 0.5, 1.0, 1.5, 2.0)) for pair in games}
    choice = Choice(Field(PLAYERS, games, points), range(PLAYERS))
    choice.next(1, range(PLAYERS))
    start = time.process_time()
    for _ in range(CHOICES):
        choice.next(1, range(PLAYERS))
    return (time.process_time() - start) / CHOICES


def main() -> None:
    """Print the mean games that round robin and league need, and their ratio, for each field."""
    error = float(sys.argv[1]) if len(sys.argv) > 1 else 40.0
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    print(f"{PLAYERS} players: {time_of_choice() * 1000:.1f} ms for each game pair", flush=True)
    for field, players in FIELDS.items():
        round_robin, league = (
            sum(games_needed(players, error, seed, is_league) for seed in range(runs)) / runs
            for is_league in (False, True)
        )
        print(
            f"{field}: round robin {round_robin:,.0f} games, league {league:,.0f}, "
            f"ratio {league / round_robin:.2f}", flush=True,
        )


if __name__ == "__main__":
    main()
