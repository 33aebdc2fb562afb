"""The rating list and the crosstable of a tournament, as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from merels.engine.common.errors import printable
from merels.tournament.report.text_table import fitted, grid, percent, shorten
from merels.tournament.statistics.counts import Counts, MatchCounts, Tally, counts_between
from merels.tournament.statistics.elo import FEW_GAMES
from merels.tournament.statistics.ratings import MAX_EXACT, PlayerRating, Ratings, rate

FORMULA = ("=", "+", "-", "@")
"""First characters of a formula in a spreadsheet."""
MAX_NAMED = 8
"""Greatest number of names in a note; further engines are only counted."""
_FIELDS = ("rank", "name", "elo", "error", "games", "wins", "draws", "losses", "points", "group")


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


T = TypeVar("T")


def by_rank(ratings: Ratings, entries: Mapping[str, T]) -> dict[str, T]:
    """Return the engines' entries in the order of the ratings; unrated engines come last."""
    players = [player.name for player in ratings.players if player.name in entries]
    return {name: entries[name] for name in dict.fromkeys((*players, *entries))}


def crosstable(matches: Counts, anchor: tuple[str, float] | None = None) -> Crosstable:
    """Return the rated crosstable of matches; ``anchor`` is an engine and its fixed rating."""
    return Crosstable(rate(matches, dict([anchor]) if anchor else {}), matches)


def rating_list(ratings: Ratings, columns: int | None = None) -> str:
    """Return the rating list as text: rank, name, Elo, 95 % error, games, points, score and draws.

    To fit it into ``columns``, names are cut and some figures left out.
    """
    rows = [["#", "Name", "Elo", "+/-", "Games", "Points", "Score", "Draws"]]
    for rank, player in enumerate(ratings.players, 1):
        rows.append([
            str(rank), shorten(player.name), f"{player.elo:z.1f}", f"{player.error:.1f}",
            str(player.games), f"{player.points:.1f}",
            percent(player.points, player.games), percent(player.draws, player.games),
        ])
    if columns is not None:
        rows = fitted(rows, 1, columns, ("Draws", "Games", "+/-", "Elo"))
    lines = grid(rows, left=1).splitlines(keepends=True)
    for i in range(len(ratings.players) - 1, 0, -1):
        if ratings.players[i].group != ratings.players[i - 1].group:
            lines.insert(i + 1, "\n")  # An empty line between groups.
    text = "".join(lines)
    remarks = "".join(f"{note}\n" for note in notes(ratings))
    return f"{text}\n{remarks}" if remarks else text


def results_table(table: Crosstable, points: bool = False) -> str:
    """Return the crosstable as text, with wins-draws-losses or points as cells; or `left_out`.

    The last line names the content of the cells.
    """
    if not table.is_whole:
        return f"{left_out(table.ratings)}\n"

    def cell(record: Tally) -> str:
        if not record.games:
            return "-"
        text = f"{record.wins}-{record.draws}-{record.losses}"
        return f"{record.points:.1f}" if points else text

    rows = results_rows(table, shorten, cell)
    for i, row in enumerate(rows[1:]):
        row[3 + i] = "x"
    content = "points" if points else "wins-draws-losses"
    return f"{grid(rows, left=1)}Cells: {content} of the row's engine.\n"


def results_rows(
    table: Crosstable, show_name: Callable[[str], str], show_record: Callable[[Tally], str]
) -> list[list[str]]:
    """Return the crosstable's head and rows; the cell of an engine against itself is empty."""
    players = table.ratings.players
    rows = [["#", "Name", "Points", *(str(rank) for rank in range(1, len(players) + 1))]]
    for i, player in enumerate(players):
        records = enumerate(table.records(player))
        cells = ["" if i == j else show_record(record) for j, record in records]
        points = f"{player.points:.1f}/{player.games}"
        rows.append([str(i + 1), show_name(player.name), points, *cells])
    return rows


def left_out(ratings: Ratings) -> str:
    """Return the sentence that replaces the crosstable of more than `MAX_EXACT` engines."""
    return (
        f"The crosstable of {len(ratings.players)} engines is left out (more than {MAX_EXACT}); "
        "-format json lists each engine's opponents."
    )


def superiority_table(ratings: Ratings) -> str:
    """Return, as text, the likelihood in percent that the row's player is the stronger one."""
    players = ratings.players
    rows = [["#", "Name", *(str(rank) for rank in range(1, len(players) + 1))]]
    for i, player in enumerate(players):
        chances = ratings.superiority[i]
        line = ["-" if chance is None else f"{100 * chance:.1f}" for chance in chances]
        line[i] = "x"
        rows.append([str(i + 1), shorten(player.name), *line])
    return grid(rows, left=1)


def as_dict(table: Crosstable) -> dict[str, Any]:
    """Return the table as JSON values; names keep their control characters."""
    ratings = table.ratings
    index_of = {player.name: index for index, player in enumerate(ratings.players)}
    opponents: list[Iterable[int]] = [range(len(index_of))] * len(index_of)
    if not table.is_whole:
        met: list[list[int]] = [[] for _ in index_of]
        for first, second in table.matches:
            met[index_of[first]].append(index_of[second])
            met[index_of[second]].append(index_of[first])
        opponents = list(map(sorted, met))
    players = [
        _player_fields(i + 1, player) | {
            "against": [_against(table, i, j) for j in opponents[i] if i != j],
        }
        for i, player in enumerate(ratings.players)
    ]
    return {
        "players": players,
        "groups": [
            {"names": list(group.names), "virtual_draws": group.virtual_draws}
            for group in ratings.groups
        ],
        "anchor": next(
            ({"name": name, "elo": elo} for name, elo in ratings.anchors.items()), None
        ),
    }


def _against(table: Crosstable, player: int, other: int) -> dict[str, Any]:
    """Return the results of a player against another; both are indices of ``ratings.players``."""
    ratings = table.ratings
    names = ratings.players[player].name, ratings.players[other].name
    record = counts_between(table.matches, *names)
    return {
        "name": names[1], "wins": record.wins, "draws": record.draws, "losses": record.losses,
        "points": record.points,
        "superiority": ratings.superiority[player][other] if ratings.superiority else None,
    }


def csv_rows(table: Crosstable, conditions: Sequence[Sequence[str]] = ()) -> list[list[str]]:
    """Return a head and a row per player: fields of the rating list, then points by opponent.

    Unless the table is whole, the columns of opponents are left out. ``conditions`` are rows of
    `condition_rows`; with them, each row ends with the player's time control and command.
    """
    players = table.ratings.players
    opponents = players if table.is_whole else ()
    rows = [[*_FIELDS, *(csv_text(player.name) for player in opponents)]]
    if conditions:
        rows[0] += ["time_control", "command"]
    for rank, player in enumerate(players, 1):
        records = table.records(player) if table.is_whole else []
        row = _player_fields(rank, player) | {"name": csv_text(player.name)}
        against = (f"{record.points:g}" if record.games else "" for record in records)
        rows.append([*(str(row[name]) for name in _FIELDS), *against])
        if conditions:
            played = zip(*(words for name, *words in conditions[1:] if name == player.name))
            cells = [csv_text(" | ".join(dict.fromkeys(words))) for words in played]
            rows[-1] += cells or ["", ""]
    return rows


def csv_text(text: str) -> str:
    """Return the printable text of a cell, after a ``'`` if it starts with one of `FORMULA`."""
    clean = printable(text)
    return f"'{clean}" if clean.startswith(FORMULA) else clean


def _player_fields(rank: int, player: PlayerRating) -> dict[str, Any]:
    """Return a player's line of the rating list, by field; ``group`` counts from 1."""
    given = {"rank": rank, "group": player.group + 1}
    return {name: given[name] if name in given else getattr(player, name) for name in _FIELDS}


def notes(ratings: Ratings) -> list[str]:
    """Return remarks on the ratings, a sentence each."""
    remarks = []
    for name, elo in ratings.anchors.items():
        remarks.append(f"{shorten(name)} is fixed at {elo:g}; errors are relative to this engine.")
    if len(ratings.groups) > 1:
        remarks.append(
            f"The engines form {len(ratings.groups)} groups without games between them; compare "
            "ratings only within a group."
        )
    few = [shorten(player.name) for player in ratings.players if player.too_few]
    if few:
        more = len(few) - MAX_NAMED
        names = ", ".join(few[:MAX_NAMED]) + f" and {more} more" * (more > 0)
        remarks.append(f"Too few games (below {FEW_GAMES}) for a conclusion: {names}.")
    virtual = sum(group.virtual_draws for group in ratings.groups)
    if virtual:
        remarks.append(f"Virtual draws added to keep ratings finite: {virtual}.")
    return remarks
