"""Finished games from files: our journals, and PGN files of any runner."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from merels.tournament.journal.open import read_journal
from merels.tournament.journal.pgn_text import pgn_texts
from merels.tournament.journal.rows import SCORES, Row
from merels.tournament.records.files import file_error
from merels.tournament.records.games import TimeControl
from merels.tournament.records.output import ID_TAG, IDENTITY, PAIR_TAG
from merels.tournament.records.settings import read_settings
from merels.tournament.statistics.counts import GameScore
from merels.tournament.statistics.terminations import Ending


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What a file says about a game; ``row`` is all of it, if the file is a journal."""

    white: str
    black: str
    result: str
    termination: str
    sentence: str = ""
    """What the runner said of its end; empty if that is unknown."""
    pair: Hashable | None = None
    """The same for the games of one opening with colours exchanged; None if unknown.

    Our own games are paired across files, those of others within a file alone."""
    marks: tuple[object, ...] = ()
    """What identifies the game: entries that share any of these are the same game."""
    row: Row | None = None
    limits: Mapping[str, TimeControl] = field(default_factory=dict)
    """What its engines might use, by name, if the file is a journal."""

    @property
    def score(self) -> float | None:
        """White's points; None for a game without a result."""
        return SCORES.get(self.result)


class _Marked(Protocol):
    @property
    def marks(self) -> tuple[object, ...]:
        """As in `PlayedGame`."""


Game = TypeVar("Game", bound=_Marked)


def read_games(paths: Iterable[str]) -> list[PlayedGame]:
    """The games of some files, in order; an error names the file.

    A game that is in several of them is in the list several times: see `without_doubles`.
    """
    games: list[PlayedGame] = []
    for path in paths:
        found = list(_journal_games(path) if is_journal(path) else _pgn_games(path))
        if not found:
            raise file_error(path, "expected games in this file, found none")
        games += found
    return games


def without_doubles(games: Iterable[Game]) -> Iterator[Game]:
    """Each game once, in its first place.

    The tournament's id and its number identify a game of ours, in a journal and in PGN. A merged
    journal has an id of its own; there the number, the names and the time of its start do.
    """
    seen: set[object] = set()
    for game in games:
        if seen.isdisjoint(game.marks):
            yield game
        seen.update(game.marks)


def scores(games: Iterable[PlayedGame]) -> list[GameScore]:
    """The games that can be rated."""
    return [
        GameScore(game.white, game.black, game.score, game.pair)
        for game in games
        if game.score is not None and game.white != game.black
    ]


def endings(games: Iterable[PlayedGame]) -> Iterator[Ending]:
    """How the games ended."""
    return (
        Ending(game.white, game.black, game.score, game.termination, game.sentence)
        for game in games
    )


def is_journal(path: str) -> bool:
    """Whether a file looks like a journal rather than text."""
    if not os.path.isfile(path):
        return False  # What a pipe holds can be read only once.
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False  # Whoever reads it next says why.


def _journal_games(path: str) -> Iterator[PlayedGame]:
    with read_journal(path) as journal:
        notes = journal.meta()
        tournament = notes["id"]
        engines = read_settings(notes["settings"]).engines
        limits = {entrant.name: entrant.limit for entrant in engines}
        for row in journal.rows():
            pair = f"{tournament}-{row.pair}"
            marks = game_marks(f"{tournament}-{row.number}", row.white, row.black, row.started)
            yield PlayedGame(
                row.white, row.black, row.result, row.termination, row.reason, pair, marks, row,
                limits,
            )


def game_marks(identity: str, white: str, black: str, started: str) -> tuple[object, ...]:
    """What identifies a game of ours; a game that never began has no time of its start."""
    number = identity.rpartition("-")[2]
    return (identity, (number, white, black, started)) if started else (identity,)


def pgn_marks(tags: Mapping[str, str]) -> tuple[object, ...]:
    """What identifies a game of ours by its tags; nothing identifies those of others."""
    if not IDENTITY.fullmatch(tags.get(ID_TAG, "")):
        return ()
    names = tags.get("White", "?"), tags.get("Black", "?")
    return game_marks(tags[ID_TAG], *names, tags.get("GameStartTime", ""))


def _pgn_games(path: str) -> Iterator[PlayedGame]:
    """The games of a PGN file by their tags alone: their moves may be of any kind of game."""
    waiting: dict[tuple[object, ...], tuple[str, int]] = {}
    pairs = 0
    for game in pgn_texts(path):
        tags = game.tags
        if not {"White", "Black"} & tags.keys():
            continue  # No file of games: any text may have lines that look like tags.
        white, black = tags.get("White", "?"), tags.get("Black", "?")
        key = _opening_key(tags, white, black)
        pair: Hashable | None = None
        if IDENTITY.fullmatch(tags.get(PAIR_TAG, "")):
            # Our own files say it, even if the colours were not exchanged.
            pair = tags[PAIR_TAG]
        elif key is not None:
            before = waiting.pop(key, None)
            if before is not None and before[0] == black:
                pair = (path, before[1])
            else:
                pairs += 1
                pair = (path, pairs)
                waiting[key] = (white, pairs)
        termination = tags.get("Termination", "") or "normal"
        marks = pgn_marks(tags)
        yield PlayedGame(
            white, black, game.result, termination.lower(), game.last_comment, pair, marks
        )


def _opening_key(tags: dict[str, str], white: str, black: str) -> tuple[object, ...] | None:
    """What the two games of a pair have in common; None if nothing tells."""
    marks = tuple(tags.get(name, "") for name in ("Round", "FEN", "Opening"))
    unknown = all(mark in ("", "?", "-") for mark in marks)
    return None if unknown else (frozenset((white, black)), *marks)
