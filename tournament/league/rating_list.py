"""Rating list of a league: the entry of each player, and the families of versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from merels.engine.common.errors import printable
from merels.tournament.journal.standings import LEAST_FAULTS, Health
from merels.tournament.league.league import League, anchors_of, ratings_of
from merels.tournament.report.crosstable import RANK, interval_column
from merels.tournament.report.table import Column, Table, share
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import PlayerRating

CONTRADICTION = 2.0
"""Distance of an anchor's rating from its stated rating, in errors, that is no chance."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A player's line of the rating list."""

    name: str
    rank: int | None
    """Rank; None without games, or if no games connect the player to group 0 of `ratings_of`."""
    rating: PlayerRating | None
    """Rating; None without games. Without a rank, its Elo cannot be compared with the others."""
    health: Health
    """Counts of the games that the player lost by its own faults, and of harmless faults."""
    status: str
    """Remarks such as ``retired``, ``not connected``, ``too few games`` or ``fails``, or empty."""


def list_entries(
    league: League, counts: Counts, healths: Mapping[str, Health]
) -> list[ListEntry]:
    """Return the lines of the players that were not removed: ranked players first, by rating.

    ``healths``: faults by player; a player that is missing has none.
    """
    entries = []
    ratings = ratings_of(league, counts)
    for rank, rating in enumerate(ratings, 1):
        name = rating.name
        health = healths.get(name, Health())
        is_ranked = rating.group == 0
        doubt = "too few games" if rating.too_few else ""
        remarks = [league.members[name].status, doubt if is_ranked else "not connected",
                   _failure(health, rating.losses)]
        status = ", ".join(remark for remark in remarks if remark not in ("", "active"))
        entries.append(ListEntry(name, rank if is_ranked else None, rating, health, status))
    with_games = {rating.name for rating in ratings}
    for name in league.listed:
        if name not in with_games:
            status = league.members[name].status
            text = "no games" if status == "active" else f"{status}, no games"
            entries.append(ListEntry(name, None, None, healths.get(name, Health()), text))
    return entries


def list_table(
    league: League, entries: Sequence[ListEntry], name_html: Callable[[str], str] | None = None
) -> Table:
    """Return entries of the rating list as a table; ``name_html`` is as in `Column`."""
    head = [
        RANK, Column("Name", "name", left=True, html=name_html),
        Column("Elo", "elo", "{:.0f}"), Column("+/-", "error", "{:.0f}"),
        interval_column(
            entry.rating for entry in entries if entry.rating is not None and entry.rank
        ),
        Column("Games", "games"), Column("", "wins"), Column("", "draws"), Column("", "losses"),
        Column("", "points"), Column("Score", form="{:.1%}"), Column("Draws", form="{:.1%}"),
        Column("Faults", "faults"), Column("Status", "status", left=True), Column("", "family"),
        Column("", "version"),
    ]
    rows = []
    for entry in entries:
        rating = entry.rating
        scale: list[object] = ["", "", ""]
        figures: list[object] = [0, 0, 0, 0, 0, "", ""]
        if rating is not None and entry.rank is not None:
            scale = [round(rating.elo, 1) + 0.0, round(rating.error, 1), rating]
        if rating is not None:
            figures = [
                rating.games, rating.wins, rating.draws, rating.losses, f"{rating.points:g}",
                share(rating.points, rating.games), share(rating.draws, rating.games),
            ]
        rows.append([
            entry.rank or "", entry.name, *scale, *figures, entry.health.faults.total(),
            entry.status, family_of(league, entry.name), league.members[entry.name].version,
        ])
    return Table("Rating list", head, rows, "ranked list", names=1)


def _failure(health: Health, losses: int) -> str:
    """Return a remark on an engine with too large a share of faults; empty for others."""
    faults = health.faults.total()
    if faults >= LEAST_FAULTS and 2 * faults > losses:
        return "most losses are faults"
    return "fails" if health.is_failing else ""


def contradictions(league: League, entries: Iterable[ListEntry]) -> Iterator[str]:
    """Yield a sentence for each anchor whose games contradict the rating that it states."""
    anchors = anchors_of(league)
    for name, rating in ((entry.name, entry.rating) for entry in entries if entry.rank):
        if rating is None or name not in anchors or rating.too_few:
            continue
        if abs(rating.elo - anchors[name]) > CONTRADICTION * rating.error:
            yield (
                f"the anchor {printable(name)} is stated as {anchors[name]:g}, but its games give "
                f"{rating.elo:.0f} \u00b1 {rating.error:.0f}: the scale of the list is doubtful"
            )


def families(league: League) -> dict[str, list[str]]:
    """Return the players of each family with several versions, in the order of addition.

    A player that was added without a family belongs to the family of its own name.
    """
    versions: dict[str, list[str]] = {}
    for name in league.listed:
        versions.setdefault(family_of(league, name), []).append(name)
    return {family: names for family, names in versions.items() if len(names) > 1}


def family_of(league: League, name: str) -> str:
    """Return the family of a player."""
    return league.members[name].family or name
