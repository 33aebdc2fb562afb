"""Finished games from files: our journals, and PGN files of any runner."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import SCORES, Row
from merels.tournament.records.files import file_error, read_lines
from merels.tournament.records.output import ID_TAG, IDENTITY, PAIR_TAG
from merels.tournament.statistics.counts import GameScore
from merels.tournament.statistics.terminations import Ending

_TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.|"(?!\s*\]))*)"\s*\]\s*')
"""A tag with the spaces around it. Not every runner escapes the quotes within a name."""
_COMMENT = re.compile(r"\{[^}]*\}?|;.*")
"""A comment within a line; one in braces that is not closed reaches to the end of the line."""
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2|\*)\s*\Z")


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What a file says about a game; ``row`` is all of it, if the file is a journal."""

    white: str
    black: str
    result: str
    termination: str
    pair: Hashable | None = None
    """The same for the games of one opening with colours exchanged; None if unknown.

    Our own games are paired across files, those of others within a file alone."""
    marks: tuple[object, ...] = ()
    """What identifies the game: entries that share any of these are the same game."""
    row: Row | None = None

    @property
    def score(self) -> float | None:
        """White's points; None for a game without a result."""
        return SCORES.get(self.result)


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


def without_doubles(games: Iterable[PlayedGame]) -> list[PlayedGame]:
    """Each game once, in its first place.

    The tournament's id and its number identify a game of ours, in a journal and in PGN. A merged
    journal has an id of its own; there the number, the names and the time of its start do.
    """
    seen: set[object] = set()
    kept = []
    for game in games:
        if seen.isdisjoint(game.marks):
            kept.append(game)
        seen.update(game.marks)
    return kept


def scores(games: Iterable[PlayedGame]) -> list[GameScore]:
    """The games that can be rated."""
    return [
        GameScore(game.white, game.black, game.score, game.pair)
        for game in games
        if game.score is not None and game.white != game.black
    ]


def endings(games: Iterable[PlayedGame]) -> Iterator[Ending]:
    """How the games ended."""
    return (Ending(game.white, game.black, game.score, game.termination) for game in games)


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
        tournament = journal.meta()["id"]
        for row in journal.rows():
            pair = f"{tournament}-{row.pair}"
            marks = _marks(f"{tournament}-{row.number}", row.white, row.black, row.started)
            yield PlayedGame(row.white, row.black, row.result, row.termination, pair, marks, row)


def _marks(identity: str, white: str, black: str, started: str) -> tuple[object, ...]:
    """What identifies a game of ours; a game that never began has no time of its start."""
    number = identity.rpartition("-")[2]
    return (identity, (number, white, black, started)) if started else (identity,)


def _pgn_games(path: str) -> Iterator[PlayedGame]:
    """The games of a PGN file by their tags alone: their moves may be of any kind of game."""
    waiting: dict[tuple[object, ...], tuple[str, int]] = {}
    pairs = 0
    for tags in _tag_sets(read_lines(path)):
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
        marks: tuple[object, ...] = ()
        if IDENTITY.fullmatch(tags.get(ID_TAG, "")):
            marks = _marks(tags[ID_TAG], white, black, tags.get("GameStartTime", ""))
        yield PlayedGame(white, black, tags["Result"], termination.lower(), pair, marks)


def _opening_key(tags: dict[str, str], white: str, black: str) -> tuple[object, ...] | None:
    """What the two games of a pair have in common; None if nothing tells."""
    marks = tuple(tags.get(name, "") for name in ("Round", "FEN", "Opening"))
    unknown = all(mark in ("", "?", "-") for mark in marks)
    return None if unknown else (frozenset((white, black)), *marks)


def _tag_sets(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The tags of each game, a Result among them; comments hold no tags."""
    tags: dict[str, str] = {}
    in_moves = in_comment = False
    words = ""
    for line in lines:
        place = 0
        while not in_comment and (match := _TAG.match(line, place)):
            if in_moves:
                yield _with_result(tags, words)
                tags, in_moves, words = {}, False, ""
            tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
            place = match.end()
        rest = line[place:]
        if rest.strip():
            in_moves = True
            bare = _COMMENT.sub("", ("{" if in_comment else "") + rest + "\n")
            in_comment = not bare.endswith("\n")
            words = bare if bare.strip() else words
    if tags or in_moves:
        yield _with_result(tags, words)


def _with_result(tags: dict[str, str], words: str) -> dict[str, str]:
    """The tags with a result: their own, or the one at the end of the last line of moves."""
    if tags.get("Result") in (*SCORES, "*"):
        return tags
    match = _RESULT.search(words)
    return tags | {"Result": match[1] if match else "*"}
