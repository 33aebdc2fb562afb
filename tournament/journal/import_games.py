"""Players and results of the games in journals of merels and in PGN files of any runner."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, TypeVar
from unicodedata import normalize

from merels.engine.common.errors import printable
from merels.protocol.common.files import file_error, read_paragraphs
from merels.protocol.formats.files import find_games
from merels.protocol.formats.pgn.tokens import read_result
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.players import (
    UNNAMED,
    Description,
    Roster,
    description_of,
)
from merels.tournament.journal.rows import SCORES, Row
from merels.tournament.records.games import TimeControl
from merels.tournament.records.output import (
    CAUSE_TAG,
    CONTROL_TAGS,
    ENGINE_TAGS,
    ID_TAG,
    IDENTITY,
    PAIR_TAG,
    SETTINGS_TAGS,
)
from merels.tournament.records.settings import Settings, read_settings
from merels.tournament.statistics.counts import GameScore
from merels.tournament.statistics.terminations import CAUSES, Ending

Split = Literal["host", "program"]
"""Criterion by which one player's games are rated separately."""
PLAYER_TAGS = tuple(zip(("White", "Black"), SETTINGS_TAGS, CONTROL_TAGS, ENGINE_TAGS))
"""PGN tags of White and of Black: name, settings, time control, and name and version."""
REPLAY_COLUMNS = ("moves", "scores", "depths", "nodes", "infos")
"""Columns of a journal that only a replay needs."""


@dataclass(slots=True)
class PlayedGame:
    """Players and result of a game in a file.

    ``white`` and ``black`` are the players' keys in the roster, empty for a player without a name.
    """

    white: str
    black: str
    result: str
    termination: str
    cause: str = ""
    """One of `CAUSES`; empty if unknown."""
    pair: Hashable | None = None
    """Identity of the game pair, None if unknown.

    Games of merels are paired across files, those of other runners only within a file."""
    identities: tuple[object, ...] = ()
    """Games that share one of these identities are duplicates."""
    row: Row | None = None
    """Row of the game, if the file is a journal."""
    limits: Mapping[str, TimeControl] | None = None
    """Limits of the engines by name, if the file is a journal."""
    place: str = ""
    """Number and file of the game, for messages."""
    notice: str = ""
    """Notice of `read_result`."""

    @property
    def score(self) -> GameScore | None:
        """Score for ratings; None without a result or with fewer than two named players."""
        if self.unrated:
            return None
        return GameScore(self.white, self.black, SCORES[self.result], self.pair)

    @property
    def unrated(self) -> str:
        """The reason why the game has no score, or ''."""
        if not self.white or not self.black:
            return "in which a player has no name (? or empty)"
        if self.white == self.black:
            return "of a player against itself"
        return "" if self.result in SCORES else "without a result"

    @property
    def ending(self) -> Ending:
        """Ending of the game."""
        score = SCORES.get(self.result)
        return Ending(self.white, self.black, score, self.termination, self.cause)


class _Identified(Protocol):
    @property
    def identities(self) -> tuple[object, ...]:
        """Identities, as in `PlayedGame`."""


Game = TypeVar("Game", bound=_Identified)


class Duplicates:
    """Filter that drops games read before; ``skipped`` is their number.

    The tournament's id and the game's number identify a game of merels, in journals and in PGN.
    Number, names and start time are a second identity, because a merged journal has a new id.
    """

    def __init__(self) -> None:
        self.skipped = 0
        self._seen: set[int] = set()
        """64-bit hashes of identities, to save memory; collisions are practically impossible."""

    def deduplicate(self, games: Iterable[Game]) -> Iterator[Game]:
        """Yield each game once, at its first occurrence."""
        for game in games:
            if not game.identities:
                yield game
                continue
            hashes = [hash(identity) for identity in game.identities]
            if self._seen.isdisjoint(hashes):
                yield game
            else:
                self.skipped += 1
            self._seen.update(hashes)


class GamesFile:
    """An open journal or a PGN file; its games are read once, in order.

    Raises InputError if the file cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.journal: Journal | None = read_journal(path) if is_journal(path) else None
        self.notes: dict[str, str] = self.journal.meta() if self.journal is not None else {}
        self.settings: Settings | None = (
            read_settings(self.notes["settings"]) if self.notes else None
        )

    def games(
        self, roster: Roster, split: Split | None = None, is_only_file: bool = False,
        is_replayed: bool = True,
    ) -> Iterator[PlayedGame]:  # fmt: skip
        """Yield the games; their players are added to ``roster``.

        ``split`` separates the games of one player by host or program. If ``is_only_file``, the
        games of a journal get no identities: no other file can repeat them. Unless
        ``is_replayed``, `REPLAY_COLUMNS` are empty. Raises InputError without games.
        """
        game = None
        source = self._pgn_games(roster)
        if self.journal is not None:
            rows = self.journal.rows(*(() if is_replayed else REPLAY_COLUMNS))
            source = self._journal_games(rows, roster, split, is_only_file)
        for game in source:
            yield game
        if game is None:
            raise file_error(self.path, "expected games in this file, found none")

    def _journal_games(
        self, rows: Iterable[Row], roster: Roster, split: Split | None, is_only_file: bool
    ) -> Iterator[PlayedGame]:
        assert self.settings is not None
        tournament = self.notes["id"]
        limits = {entrant.name: entrant.limit for entrant in self.settings.engines}
        described = {entrant.name: description_of(entrant) for entrant in self.settings.engines}
        file = os.path.basename(self.path)

        @cache
        def key(name: str, version: str, program: str, host: str) -> str:
            group = {None: "", "host": host or "?", "program": program or "?"}[split]
            group = f"{split}={group}" if group else ""
            if name not in described:
                assert self.journal is not None
                raise self.journal.damaged(f"its settings have no engine {name}")
            return roster.key(name, described[name]._replace(version=version, group=group), file)

        for row in rows:
            number = f"{tournament}-{row.number}"
            yield PlayedGame(
                key(row.white, row.white_id, row.white_program, row.host),
                key(row.black, row.black_id, row.black_program, row.host),
                row.result, row.termination, row.cause, f"{tournament}-{row.pair}",
                () if is_only_file
                else game_identities(number, row.white, row.black, row.started),
                row, limits, f"game {row.number} of {printable(self.path)}",
            )

    def _pgn_games(self, roster: Roster) -> Iterator[PlayedGame]:
        """Yield the games of a PGN file by their tags; the moves are not read."""
        find = player_finder(roster, self.path)
        waiting: dict[tuple[object, ...], tuple[str, int]] = {}
        """Opening key -> White and pair number of a game that may be the first of a pair."""
        pairs = 0
        for game in find_games(read_paragraphs(self.path), printable(self.path)):
            tags, after_moves = game.text.tags, game.text.result_after_moves
            if not {"White", "Black"} & tags.keys() and not after_moves:
                continue  # Other texts may contain lines that look like tags.
            result, notice = read_result(after_moves, tags)
            white, black = tags.get("White", "?"), tags.get("Black", "?")
            key = _opening_key(tags, white, black)
            pair: Hashable | None = None
            if IDENTITY.fullmatch(tags.get(PAIR_TAG, "")):
                # Files of merels state the pair, even if colours were not exchanged.
                pair = tags[PAIR_TAG]
            elif key is not None:
                earlier_white, number = waiting.pop(key, (None, 0))
                if earlier_white == black:
                    pair = (self.path, number)
                else:
                    pairs += 1
                    pair = (self.path, pairs)
                    waiting[key] = (white, pairs)
            termination = tags.get("Termination", "") or "normal"
            yield PlayedGame(
                *find(tags), result, termination.lower(), cause_of(tags), pair,
                pgn_identities(tags), place=game.place, notice=notice,
            )


def player_finder(roster: Roster, path: str) -> Callable[[Mapping[str, str]], tuple[str, str]]:
    """Return a function from the tags of a PGN game to the keys of White and Black.

    A player without a name has an empty key.
    """

    @cache
    def key(text: str, settings: str, control: str, version: str) -> str:
        # Names that look the same are one player.
        name = normalize("NFC", " ".join(text.split()))
        if name in UNNAMED:
            return ""
        described = Description(settings, "" if control == "?" else control, version)
        return roster.key(name, described, os.path.basename(path))

    def find(tags: Mapping[str, str]) -> tuple[str, str]:
        white, black = (
            key(
                tags.get(name, ""), tags.get(settings, ""),
                tags.get(control) or tags.get("TimeControl", ""), tags.get(version, ""),
            )
            for name, settings, control, version in PLAYER_TAGS
        )  # fmt: skip
        return white, black

    return find


def is_journal(path: str) -> bool:
    """Return whether a file begins like a SQLite database."""
    if not os.path.isfile(path):
        return False  # A pipe can be read only once.
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False  # The next reader reports the reason.


def game_identities(identity: str, white: str, black: str, started: str) -> tuple[object, ...]:
    """Return ``identity`` and, with a start time, a second identity, see `Duplicates`."""
    number = identity.rpartition("-")[2]
    return (identity, (number, white, black, started)) if started else (identity,)


def pgn_identities(tags: Mapping[str, str]) -> tuple[object, ...]:
    """Return the identities of a game of merels from its tags; () for other games."""
    if not IDENTITY.fullmatch(tags.get(ID_TAG, "")):
        return ()
    names = tags.get("White", "?"), tags.get("Black", "?")
    return game_identities(tags[ID_TAG], *names, tags.get("GameStartTime", ""))


def cause_of(tags: Mapping[str, str]) -> str:
    """Return the cause of a game's end from its tags, one of `CAUSES`; empty if unknown."""
    cause = tags.get(CAUSE_TAG, "")
    return cause if cause in CAUSES else ""


def _opening_key(tags: dict[str, str], white: str, black: str) -> tuple[object, ...] | None:
    """Return a key shared by the two games of a pair; None if unknown."""
    values = tuple(tags.get(name, "") for name in ("Round", "FEN", "Opening"))
    is_unknown = all(value in ("", "?", "-") for value in values)
    return None if is_unknown else (frozenset((white, black)), *values)
