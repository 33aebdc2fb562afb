"""The rating list: rank, rating, health and remarks of each player, and families of versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from merels.tournament.journal.failures import LEAST_FAULTS, Health
from merels.tournament.league.league import League, ratings_of
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import PlayerRating


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A player's line of the list."""

    name: str
    rank: int | None
    """None without a rating on the scale of the list."""
    rating: PlayerRating | None
    """None without games. It is on the scale of the list only if there is a rank."""
    health: Health
    status: str
    """The player's status unless it is active, and whether it fails or is not connected."""


def rating_list(
    league: League, counts: Counts, healths: Mapping[str, Health]
) -> list[ListEntry]:
    """Return the lines of the players that were not removed, strongest first."""
    entries = []
    ratings = ratings_of(league, counts)
    for rank, rating in enumerate(ratings, 1):
        name = rating.name
        health = healths.get(name, Health())
        is_ranked = rating.group == 0
        remarks = [league.members[name].status, "" if is_ranked else "not connected",
                   _failure(health, rating.losses)]
        status = ", ".join(remark for remark in remarks if remark not in ("", "active"))
        entries.append(ListEntry(name, rank if is_ranked else None, rating, health, status))
    known = {rating.name for rating in ratings}
    for name in league.rated:
        if name not in known:
            status = league.members[name].status
            text = "no games" if status == "active" else f"{status}, no games"
            entries.append(ListEntry(name, None, None, healths.get(name, Health()), text))
    return entries


def _failure(health: Health, losses: int) -> str:
    """Return whether an engine fails, in words; empty if it does not."""
    faults = health.faults.total()
    if faults >= LEAST_FAULTS and 2 * faults > losses:
        return "most losses are faults"
    return "fails" if health.is_failing else ""


def families(league: League) -> dict[str, list[str]]:
    """Return the versions of each engine in the order in which they were added, by family.

    A player that was added without a family belongs to the one of its own name. Engines with one
    version are left out.
    """
    versions: dict[str, list[str]] = {}
    for name in league.rated:
        versions.setdefault(family_of(league, name), []).append(name)
    return {family: names for family, names in versions.items() if len(names) > 1}


def family_of(league: League, name: str) -> str:
    """Return the family of a player."""
    return league.members[name].family or name
