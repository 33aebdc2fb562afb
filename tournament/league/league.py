"""A league on disk: a folder with a journal that holds the games, the settings and the players.

The journal is that of a tournament of the format ``league``, so that every command that reads
journals can read it. Its settings list all players ever added. Its note ``league`` holds the other
data of the players, and the terms of the league.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from itertools import chain
from typing import Any, Literal, get_args

from merels.engine import __version__
from merels.engine.common.errors import InputError, suggestion
from merels.engine.search.levels import LEVELS, Level
from merels.protocol.common.files import file_error, system_error
from merels.tournament.journal.import_games import REPLAY_COLUMNS
from merels.tournament.journal.journal import Journal, JournalError
from merels.tournament.journal.open import is_new, new_journal, open_run, reserved
from merels.tournament.journal.rows import Row
from merels.tournament.play.fingerprint import fingerprint
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import LEAGUE, Settings
from merels.tournament.statistics.counts import Counts, GameScore, MatchCounter
from merels.tournament.statistics.ratings import PlayerRating, rate

JOURNAL = "games.db"
"""Name of the journal in the folder."""
NOTE = "league"
"""Key of the journal's note on the league."""
ERROR_GOAL = 25.0
"""Default goal for the error of each rating, in Elo."""
MIN_GAMES = 2
"""Default minimum number of games between any two active players."""
_IDENTITIES = "SELECT number, white, black, started FROM games"
"""Selects number, players and start time of each game, which together identify the game."""
Status = Literal["active", "retired", "removed"]
"""Only active players play. Active and retired players are listed; removed players are not."""


@dataclass(frozen=True, slots=True)
class Member:
    """Data of a player in the league, besides its entry in the settings."""

    added: str
    """Date, ISO 8601."""
    status: Status = "active"
    family: str = ""
    """Name that the versions of one engine share; if empty, the player's own name is used."""
    version: str = ""
    """Name and version that the engine announced when it was added."""
    program: str = ""
    """Fingerprint of the engine's program when it was added; empty if unknown."""
    each: tuple[tuple[str, str], ...] = ()
    """Keys and values of the player's ``-engine`` flag."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Goals for the games, scale of the ratings, and default flags of new players."""

    error: float = ERROR_GOAL
    """Goal for the error of each active player's rating, in Elo."""
    floor: int = MIN_GAMES
    """Minimum number of games between any two active players, rounded up to pairs."""
    anchors: tuple[tuple[str, float], ...] = ()
    """Players of known rating, each with its Elo; if empty, the built-in levels.

    The ratings are shifted so that the anchors' mean rating equals the mean of these Elo."""
    each: tuple[tuple[str, str], ...] = ()
    """Keys and values of ``-each``, for players that are added."""


@dataclass(frozen=True, slots=True)
class League:
    """An open league; `save` writes changes."""

    folder: str
    journal: Journal
    settings: Settings
    members: Mapping[str, Member]
    terms: Terms

    @property
    def active(self) -> list[str]:
        """Names of the players that play, in the order in which they were added."""
        return [name for name, member in self.members.items() if member.status == "active"]

    @property
    def listed(self) -> list[str]:
        """Names of the players in the rating list: those that were not removed."""
        return [name for name, member in self.members.items() if member.status != "removed"]

    def member(self, name: str) -> Member:
        """Return a player by name; `InputError` if there is no such player."""
        if name not in self.members:
            raise InputError(name, f"no such player in {self.folder}"
                             f"{suggestion(name, self.members)}")
        return self.members[name]

    def with_member(self, name: str, **changes: Any) -> League:
        """Return the league with changes to a player."""
        member = replace(self.member(name), **changes)
        return replace(self, members={**self.members, name: member})

    def with_new(self, entrants: Sequence[Entrant], members: Sequence[Member]) -> League:
        """Return the league with more players."""
        new = {entrant.name: member for entrant, member in zip(entrants, members)}
        engines = (*self.settings.engines, *entrants)
        return replace(
            self, settings=replace(self.settings, engines=engines), members={**self.members, **new}
        )

    def save(self) -> None:
        """Write the settings and the players to the journal, in one transaction."""
        self.journal.set_meta({
            "settings": self.settings.as_json(), NOTE: _as_json(self.members, self.terms)
        })

    def rows(self) -> Iterator[Row]:
        """Yield the games between players that were not removed, without their moves."""
        listed = set(self.listed)
        for row in self.journal.rows(*REPLAY_COLUMNS):
            if row.white in listed and row.black in listed:
                yield row

    def counter(self) -> MatchCounter:
        """Return the counts of the games between players that were not removed."""
        counter = MatchCounter()
        for row in self.rows():
            if row.white_score is not None:
                counter.add(GameScore(row.white, row.black, row.white_score, row.pair))
        return counter

    def program_difference(self, name: str) -> str:
        """Return how a player's program differs from the program that was added, or ''."""
        added = self.members[name].program
        player = next(entrant for entrant in self.settings.engines if entrant.name == name)
        now = fingerprint(player.engine)
        if added and now and now != added:
            return f"fingerprint now {now}, then {added}"
        return ""


def ratings_of(league: League, counts: Counts) -> list[PlayerRating]:
    """Return the ratings of the players with games, by group, strongest first.

    Group 0 is the rating list: the connected group with the most anchors, then with the most
    players. The scale of a group is fixed by its anchors; without anchors its mean is 0. An error
    is half the 95 % interval of the difference between a rating and the mean of the group's anchors
    or, without anchors, of all its players.
    """
    if not counts:
        return []
    names = set(chain.from_iterable(counts))
    anchors = {name: elo for name, elo in anchors_of(league).items() if name in names}
    ratings = rate(counts, anchors)
    order = sorted(
        range(len(ratings.groups)),
        key=lambda group: (-len(anchors.keys() & ratings.groups[group].names), group),
    )
    players = [replace(player, group=order.index(player.group)) for player in ratings.players]
    return sorted(players, key=lambda player: (player.group, -player.elo))


def anchors_of(league: League) -> dict[str, float]:
    """Return the players that fix the scale, with their Elo: named anchors, or built-in levels.

    A level is an anchor only if it may search all of its nodes.
    """
    if league.terms.anchors:
        return dict(league.terms.anchors)
    levels = levels_of(league)
    return {
        entrant.name: float(levels[entrant.name].elo) for entrant in league.settings.engines
        if entrant.name in levels and entrant.limit.depth is None
        and (entrant.limit.nodes or math.inf) >= levels[entrant.name].nodes
    }


def levels_of(league: League) -> dict[str, Level]:
    """Return the built-in levels in the rating list, by the names of the players."""
    levels = {level.name: level for level in LEVELS}
    return {
        name: levels[name] for name in league.listed
        if name in levels and dict(league.members[name].each).get("level", "").title() == name
    }


def merge_copy(league: League, other: League) -> tuple[League, int]:
    """Add the games and players of a copy of the league that was continued elsewhere.

    Return the changed league and the number of new games. Raises `InputError`, before anything is
    added, if the folders hold different leagues, different games of the same number, or different
    players of the same name.
    """
    ours, theirs = league.journal, other.journal
    if ours.meta()["id"] != theirs.meta()["id"]:
        raise file_error(other.folder, f"this is not a copy of the league in {league.folder}")
    games = {number: game for number, *game in ours.query(_IDENTITIES)}
    new = []
    for number, *game in theirs.query(_IDENTITIES):
        if games.get(number, game) != game:
            problem = f"game {number} here is not game {number} of {league.folder}"
            raise file_error(other.folder, f"{problem}; play parts of a league with -shard i/n")
        if number not in games:
            new.append(number)
    entrants = [
        entrant for entrant in other.settings.engines if entrant.name not in league.members
    ]
    identities = {entrant.name: _identity(league, entrant) for entrant in league.settings.engines}
    for entrant in other.settings.engines:
        name = entrant.name
        if name in identities and identities[name] != _identity(other, entrant):
            problem = f"{name} here and {name} of {league.folder} are different engines"
            raise file_error(other.folder, f"{problem}; add each player in one folder only")
    league = league.with_new(entrants, [other.members[entrant.name] for entrant in entrants])
    league.save()
    for number in new:
        ours.append(theirs.row(number))
    return league, len(new)


def _identity(league: League, entrant: Entrant) -> tuple[Entrant, str]:
    """Return what identifies a player: with a fingerprint, the program may be at any path."""
    program, engine = league.members[entrant.name].program, entrant.engine
    if program:
        engine = replace(engine, command=("", *engine.command[1:]), directory=None)
    return replace(entrant, engine=engine), program


def create_league(folder: str, settings: Settings, terms: Terms, words: Sequence[str]) -> None:
    """Create a league without players; `InputError` if the folder already holds a league."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise system_error(folder, "create", error) from None
    notes = {
        "id": secrets.token_hex(8),
        "arguments": json.dumps(list(words)),
        "folder": os.getcwd(),
        "version": __version__,
        "created": date.today().isoformat(),
        NOTE: _as_json({}, terms),
    }
    with new_journal(os.path.join(folder, JOURNAL)) as journal:
        journal.create(settings.as_json(), notes)


@contextmanager
def open_league(folder: str) -> Iterator[League]:
    """Open a league and keep other commands from writing to it.

    Raises `InputError` if the folder holds no league.
    """
    path = _path(folder)
    with reserved(path):
        stored = open_run(path)
        with stored.journal:
            stored.journal.prepare_writing()
            yield _read(folder, stored.journal, stored.settings, stored.notes)
            with suppress(JournalError):  # The write-ahead log then stays.
                stored.journal.checkpoint()


@contextmanager
def read_league(folder: str) -> Iterator[League]:
    """Open a league for reading, which is possible while another command writes to it."""
    stored = open_run(_path(folder), read_only=True)
    with stored.journal:
        yield _read(folder, stored.journal, stored.settings, stored.notes)


def _path(folder: str) -> str:
    path = os.path.join(folder, JOURNAL)
    if is_new(path):
        raise file_error(folder, f"there is no league here; create one with merels league {folder}"
                         " create -each tc=10+0.1")
    return path


def _as_json(members: Mapping[str, Member], terms: Terms) -> str:
    players = {name: asdict(member) for name, member in members.items()}
    return json.dumps(asdict(terms) | {"players": players}, sort_keys=True)


def _read(
    folder: str, journal: Journal, settings: Settings, notes: Mapping[str, str]
) -> League:
    """Return the league of a journal; `InputError` if it is a tournament's, or damaged."""
    if settings.format != LEAGUE or NOTE not in notes:
        raise file_error(journal.path or "", "this is the journal of a tournament, not of a league")
    try:
        data = json.loads(notes[NOTE])
        members = {
            entrant.name: Member(**_arguments(data["players"][entrant.name], Member))
            for entrant in settings.engines
        }
        terms = Terms(**_arguments(data, Terms))
        if any(member.status not in get_args(Status) for member in members.values()):
            raise ValueError("status")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise journal.damaged("its note on the league") from None
    # The journal stores no rules=known in its settings.
    known = {
        name for name, member in members.items() if "rules" in dict(terms.each) | dict(member.each)
    }
    engines = tuple(
        replace(entrant, engine=replace(entrant.engine, rules_known=entrant.name in known))
        for entrant in settings.engines
    )
    return League(folder, journal, replace(settings, engines=engines), members, terms)


def _arguments(data: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the fields of a dataclass from a JSON object, with its lists of pairs as tuples."""
    names = [field.name for field in fields(kind)]
    return {
        name: tuple(map(tuple, value)) if isinstance(value, list) else value
        for name, value in data.items() if name in names
    }
