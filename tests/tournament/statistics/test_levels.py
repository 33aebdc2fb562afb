"""The documented ratings of the built-in levels."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from merels.engine.search.levels import LEVELS
from merels.tournament.statistics.counts import GameScore, count_matches
from merels.tournament.statistics.ratings import rate


def test_the_documented_ratings_follow_from_the_stored_round_robin() -> None:
    with open(Path(__file__).parents[2] / "data" / "levels.csv", newline="") as file:
        games = [
            GameScore(row["white"], row["black"], float(row["score"]), int(row["pair"]))
            for row in csv.DictReader(file)
        ]
    assert len(games) == 1800
    players = {player.name: player for player in rate(count_matches(games)).players}
    lowest = players[LEVELS[0].name].elo - LEVELS[0].elo
    for entry in LEVELS:
        assert entry.elo == pytest.approx(players[entry.name].elo - lowest, abs=3)
    for low, high in zip(LEVELS, LEVELS[1:]):
        weak, strong = players[low.name], players[high.name]
        assert weak.elo + weak.error < strong.elo - strong.error
