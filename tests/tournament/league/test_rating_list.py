"""The published rating lists: their ratings and errors follow from the published counts."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from merels.engine.search.levels import LEVELS
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import PlayerRating, rate
from tests.tournament.league.leagues import read_pairs

TOURNAMENT = Path(__file__).parents[3] / "tournament"
PAGE = TOURNAMENT / "rating-list.md"
LISTS = sorted(path.stem for path in TOURNAMENT.glob("rating-list*.csv")
               if not path.stem.endswith("-pairs"))
"""The list ``rating-list`` consists of ``rating-list.csv`` and ``rating-list-pairs.csv``."""


def counts_of(name: str) -> Counts:
    """Return the published counts of a list."""
    with (TOURNAMENT / f"{name}-pairs.csv").open(encoding="utf-8") as file:
        return read_pairs(file)


def ratings_of(counts: Counts) -> list[PlayerRating]:
    """Return the ratings about the mean of the levels, strongest first."""
    anchors = {level.name: level.elo for level in LEVELS}
    ratings = rate(counts, anchors)
    assert len(ratings.groups) == 1 and anchors.keys() <= set(ratings.groups[0].names)
    return sorted(ratings.players, key=lambda player: -player.elo)


def rows_of(name: str) -> list[Mapping[str, str]]:
    """Return the rows of a published list as CSV."""
    with (TOURNAMENT / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", LISTS)
def test_the_csv_follows_from_the_counts(name: str) -> None:
    ratings, rows = ratings_of(counts_of(name)), rows_of(name)
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, len(rows) + 1)]
    columns = ("name", "elo", "error", "games", "wins", "draws", "losses", "points")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (player.name, f"{player.elo:.1f}", f"{player.error:.1f}", str(player.games),
         str(player.wins), str(player.draws), str(player.losses), f"{player.points:g}")
        for player in ratings
    ]


def tables_of_the_page() -> list[list[str]]:
    """Return the rows of each list on the page, without accuracy and limit."""
    tables: list[list[str]] = []
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| # | player |"):
            tables.append([])
        elif re.match(r"\| \d+ \|", line):
            tables[-1].append("|".join(line.split("|")[1:8]))
    return tables


def test_the_page_follows_from_the_counts() -> None:
    expected = []
    for name in LISTS:
        expected.append([
            f" {rank} | {player.name} | {player.elo:.0f} | {player.error:.0f} | "
            f"{player.games:,} | {100 * player.score:.1f} % | "
            f"{100 * player.draws / player.games:.1f} % "
            for rank, player in enumerate(ratings_of(counts_of(name)), 1)
        ])
    assert "rating-list" in LISTS and tables_of_the_page() == expected


def test_the_page_states_the_number_of_players_and_games() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    for name in LISTS:
        counts = counts_of(name)
        games = sum(match.games for match in counts.values())
        assert f"{len(rows_of(name))} players, {games:,} games" in text
