"""The rating list and the crosstable of a tournament."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from merels.tournament.report.svg import interval
from merels.tournament.report.table import Column, Table, share, shorten
from merels.tournament.statistics.counts import Counts, MatchCounts, counts_between
from merels.tournament.statistics.elo import FEW_GAMES
from merels.tournament.statistics.ratings import MAX_EXACT, PlayerRating, Ratings, rate

MAX_NAMED = 8
"""Greatest number of names in a note; further engines are only counted."""
MAX_RECORDS = 20
"""Largest number of engines whose crosstable on a page shows wins–draws–losses, not percent."""
SPARE = ("Draws", "Games", "+/-", "Elo")
"""Headings of the rating list that a narrow screen leaves out, in this order."""
RANK, NAME = Column("#", "rank"), Column("Name", "name", left=True)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Crosstable:
    """A rating list, with the results of each player (row) against all others (columns)."""

    ratings: Ratings
    matches: Counts

    @property
    def is_whole(self) -> bool:
        """Whether every player has a column; larger tables are not printed."""
        return len(self.ratings.players) <= MAX_EXACT

    def records(self, player: PlayerRating) -> list[MatchCounts]:
        """Return a player's results against each of ``ratings.players``, in their order."""
        return [
            counts_between(self.matches, player.name, other.name) for other in self.ratings.players
        ]


def by_rank(ratings: Ratings, entries: Mapping[str, T]) -> dict[str, T]:
    """Return the engines' entries in the order of the ratings; unrated engines come last."""
    players = [player.name for player in ratings.players if player.name in entries]
    return {name: entries[name] for name in dict.fromkeys((*players, *entries))}


def crosstable(matches: Counts, anchor: tuple[str, float] | None = None) -> Crosstable:
    """Return the rated crosstable of matches; ``anchor`` is an engine and its fixed rating."""
    return Crosstable(rate(matches, dict([anchor]) if anchor else {}), matches)


def rating_table(ratings: Ratings) -> Table:
    """Return the rating list; its errors are half the 95 % intervals."""
    several = "Group" if len(ratings.groups) > 1 else ""
    head = [
        RANK, NAME, Column("Elo", "elo", "{:z.1f}"), Column("+/-", "error", "{:.1f}"),
        interval_column(ratings.players),
        Column("Games", "games"), Column("Points", "points", "{:.1f}"),
        Column("Score", form="{:.1%}"), Column("Draws", form="{:.1%}"),
        Column("Won", "wins", page_only=True), Column("Drawn", "draws", page_only=True),
        Column("Lost", "losses", page_only=True), Column(several, "group"),
    ]
    rows = [
        [
            rank, player.name, player.elo, player.error, player, player.games, player.points,
            share(player.points, player.games), share(player.draws, player.games),
            player.wins, player.draws, player.losses, player.group + 1,
        ]
        for rank, player in enumerate(ratings.players, 1)
    ]
    return Table("Standings", head, rows, "ranked standings", names=1)


def interval_column(players: Iterable[PlayerRating]) -> Column:
    """Return the column of a page that draws the ratings with their errors on one scale."""
    ends = [
        player.elo + sign * player.error for player in players if math.isfinite(player.error)
        for sign in (-1, 1)
    ]
    low, high = min(ends, default=0), max(ends, default=0)
    span = high - low or 1.0

    def draw(player: PlayerRating) -> str:
        error = player.error if math.isfinite(player.error) else 0.0
        start, end, point = ((player.elo + sign * error - low) / span for sign in (-1, 1, 0))
        text = f"{player.name}: {player.elo:z.1f} ± {player.error:.1f}"
        return interval([("error", start, end)], point, text)

    return Column("95 % interval", html=draw, page_only=True)


def rating_list(ratings: Ratings, columns: int | None = None) -> str:
    """Return the rating list as text, with remarks; fitted into ``columns``, if they are given."""
    text = rating_table(ratings).text(columns, SPARE)
    remarks = "".join(f"{note}\n" for note in notes(ratings))
    return f"{text}\n{remarks}" if remarks else text


def results_table(table: Crosstable, points: bool = False) -> Table:
    """Return the crosstable; its cells are wins, draws and losses or, in text, ``points``."""
    players = table.ratings.players
    is_large = len(players) > MAX_RECORDS

    def text(record: MatchCounts | str) -> str:
        if isinstance(record, str):
            return record
        counts = f"{record.wins}-{record.draws}-{record.losses}"
        return f"{record.points:.1f}" if points else counts

    def cell(record: MatchCounts | str) -> str:
        """Return wins, draws and losses, or percent, shaded by the score in tenths."""
        if isinstance(record, str):
            return ""
        shown, title = text(record).replace("-", "–"), ""
        if is_large:
            shown, title = f"{100 * record.score:.0f}", f' title="{shown}"'
        return f'<span class="cell share-{round(10 * record.score)}"{title}>{shown}</span>'

    head = [RANK, NAME, Column("Points")]
    rows: list[list[Any]] = []
    for rank, player in enumerate(players, 1):
        head.append(Column(str(rank), form=text, html=cell, title=player.name))
        records = [record if record.games else None for record in table.records(player)]
        row = [rank, player.name, f"{player.points:.1f}/{player.games}", *records]
        row[2 + rank] = "x"
        rows.append(row)
    return Table("Crosstable", head, rows, "ranked cross", names=1)


def results_text(table: Crosstable, points: bool = False) -> str:
    """Return the crosstable as text, or `left_out`; the last line names the content of cells."""
    if not table.is_whole:
        return f"{left_out(table.ratings)}\n"
    content = "points" if points else "wins-draws-losses"
    return f"{results_table(table, points).text()}Cells: {content} of the row's engine.\n"


def left_out(ratings: Ratings) -> str:
    """Return the sentence that replaces the crosstable of more than `MAX_EXACT` engines."""
    return (
        f"The crosstable of {len(ratings.players)} engines is left out (more than {MAX_EXACT}); "
        "-format json lists each engine's opponents."
    )


def superiority_table(ratings: Ratings) -> Table:
    """Return the likelihood, in percent, that the row's player is the stronger one."""
    rows: list[list[Any]] = []
    for rank, (player, chances) in enumerate(zip(ratings.players, ratings.superiority), 1):
        row = [None if chance is None else f"{100 * chance:.1f}" for chance in chances]
        row[rank - 1] = "x"
        rows.append([rank, player.name, *row])
    ranks = (Column(str(rank)) for rank in range(1, len(rows) + 1))
    return Table("Superiority", [RANK, NAME, *ranks], rows, names=1)


def as_dict(table: Crosstable) -> dict[str, Any]:
    """Return the table as JSON values; names keep their control characters."""
    ratings = table.ratings
    names = [player.name for player in ratings.players]
    index_of = {name: index for index, name in enumerate(names)}
    opponents: list[Iterable[int]] = [range(len(names))] * len(names)
    if not table.is_whole:
        met: list[list[int]] = [[] for _ in names]
        for first, second in table.matches:
            met[index_of[first]].append(index_of[second])
            met[index_of[second]].append(index_of[first])
        opponents = list(map(sorted, met))

    def against(player: int, other: int) -> dict[str, Any]:
        record = counts_between(table.matches, names[player], names[other])
        return {
            "name": names[other], "wins": record.wins, "draws": record.draws,
            "losses": record.losses, "points": record.points,
            "superiority": ratings.superiority[player][other] if ratings.superiority else None,
        }

    return {
        "players": [
            row | {"against": [against(i, j) for j in opponents[i] if i != j]}
            for i, row in enumerate(rating_table(ratings).json())
        ],
        "groups": [
            {"names": list(group.names), "virtual_draws": group.virtual_draws}
            for group in ratings.groups
        ],
        "anchor": next(
            ({"name": name, "elo": elo} for name, elo in ratings.anchors.items()), None
        ),
    }


def data_table(table: Crosstable, conditions: Table | None = None) -> Table:
    """Return the table for CSV: the rating list, points by opponent, and conditions of play.

    Unless the crosstable is whole, the columns of opponents are left out. ``conditions`` has a row
    for each engine and conditions under which it played, see `condition_rows`.
    """
    players = table.ratings.players
    base = rating_table(table.ratings)
    head, rows = [*base.head], [[*row] for row in base.rows]
    if table.is_whole:
        head += [Column("", player.name) for player in players]
        for row, player in zip(rows, players):
            records = table.records(player)
            row += [f"{record.points:g}" if record.games else None for record in records]
    if conditions is not None:
        head += conditions.head[1:]
        for row, player in zip(rows, players):
            words = zip(*(played[1:] for played in conditions.rows if played[0] == player.name))
            row += [" | ".join(dict.fromkeys(texts)) for texts in words] or [None, None]
    return replace(base, head=head, rows=rows)


def notes(ratings: Ratings) -> list[str]:
    """Return remarks on the ratings, a sentence each."""
    remarks = []
    for name, elo in ratings.anchors.items():
        remarks.append(
            f"{shorten(name)} is fixed at {elo:g}; errors are relative to this engine."
        )
    if len(ratings.groups) > 1:
        remarks.append(
            f"The engines form {len(ratings.groups)} groups without games between them; compare "
            "ratings only within a group."
        )
    few = [shorten(player.name) for player in ratings.players if player.too_few]
    if few:
        more = len(few) - MAX_NAMED
        listed = ", ".join(few[:MAX_NAMED]) + f" and {more} more" * (more > 0)
        remarks.append(f"Too few games (below {FEW_GAMES}) for a conclusion: {listed}.")
    virtual = sum(group.virtual_draws for group in ratings.groups)
    if virtual:
        remarks.append(f"Virtual draws added to keep ratings finite: {virtual}.")
    return remarks
