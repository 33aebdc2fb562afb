"""Leagues of invented games, and the files of their sites."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.rows import Row
from merels.tournament.league.league import (
    JOURNAL,
    Member,
    Terms,
    create_league,
    open_league,
)
from merels.tournament.league.site import COLOUR_COUNTS, PAIR_COUNTS, PLAYERS_OF_PAIR, SITE
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.settings import LEAGUE, Settings
from merels.tournament.statistics.counts import Counts, MatchCounts
from tests.benchmarks.journals import insert, rows

HIDDEN = "/home/somebody/engines"
"""Folder of the players' programs, which no site may mention."""


def make_league(folder: Path, names: Sequence[str], games: Iterable[Row], **terms: object) -> str:
    """Create a league of players whose programs do not exist; return its folder."""
    settings = Settings((), 1, format=LEAGUE, rounds=1, event="A league")
    create_league(str(folder), settings, Terms(**terms), ())  # type: ignore[arg-type]
    entrants = [
        Entrant(EngineSpec((f"{HIDDEN}/{number}", "--fast"), name), TimeControl(time=10**9))
        for number, name in enumerate(names)
    ]
    with open_league(str(folder)) as league:
        league.with_new(entrants, [Member("2026-01-01")] * len(names)).save()
    add_games(str(folder), games)
    return str(folder)


def add_games(folder: str, games: Iterable[Row]) -> None:
    """Add games to a league."""
    with open_league(folder) as league:
        insert(league.journal, iter(games))


def random_games(names: Sequence[str], count: int, first: int = 1) -> Iterator[Row]:
    """Yield ``count`` games of random pairs of players, numbered from ``first``."""
    labels = {f"Engine {number}": name for number, name in enumerate(names, 1)}
    for row in rows(first + count - 1, len(names), 6):
        if row.number >= first:
            yield row._replace(white=labels[row.white], black=labels[row.black])


def game(number: int, white: str, black: str, result: str = "1-0", cause: str = "") -> Row:
    """Return a game; ``cause`` is the fault by which the loser lost, if any."""
    (row,) = rows(1, 2, 6)
    termination = "abandoned" if cause else "normal"
    return row._replace(
        number=number, pair=(number + 1) // 2, white=white, black=black, result=result,
        termination=termination, cause=cause,
    )


def site_files(folder: str) -> dict[str, bytes]:
    """Return the content of each file of a site, by name."""
    return {name: path.read_bytes() for name, path in _paths(folder)}


def stamps(folder: str) -> dict[str, tuple[int, int]]:
    """Return, for each file of a site, a value that changes when the file is replaced."""
    return {name: (path.stat().st_ino, path.stat().st_mtime_ns) for name, path in _paths(folder)}


def _paths(folder: str) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file of a site."""
    site = Path(folder, SITE)
    for path in filter(Path.is_file, site.rglob("*")):
        yield path.relative_to(site).as_posix(), path


def journal_of(folder: str) -> str:
    """Return the path of a league's journal."""
    return os.path.join(folder, JOURNAL)


def read_pairs(lines: Iterable[str]) -> Counts:
    """Return the counts in a site's ``pairs.csv``.

    Raise AssertionError for players that are listed twice, or that have more pairs than games.
    """
    counts: dict[tuple[str, str], MatchCounts] = {}
    for row in csv.DictReader(lines):
        first, second = (row[name] for name in PLAYERS_OF_PAIR)
        white, black = (
            [int(row[name]) for name in COLOUR_COUNTS[start : start + 3]] for start in (0, 3)
        )
        wins, draws, losses = map(sum, zip(white, black))
        pairs = {name: int(row[name]) for name in PAIR_COUNTS}
        match = MatchCounts(wins=wins, draws=draws, losses=losses, **pairs)
        assert min(match.unpaired) >= 0, row
        assert not {(first, second), (second, first)} & counts.keys(), row
        counts[first, second] = match
    return counts
