"""Finished games from files: journals of ours, and PGN files of whatever runner wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from merels.tournament.counts import GameScore
from merels.tournament.files import file_error, read_text
from merels.tournament.pgnout import PAIR_TAG
from merels.tournament.store import SCORES, Row, read_journal
from merels.tournament.terminations import Ending

SQLITE_MAGIC = b"SQLite format 3\0"
UNKNOWN = ("", "?", "-")
_TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2|\*)\s*\Z")


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """What a file says of a game; ``row`` is all of it, where the file is a journal."""

    white: str
    black: str
    result: str
    termination: str
    pair: tuple[object, ...] | None = None
    """The same for the games of one opening with colours exchanged; None where unknown."""
    row: Row | None = None

    @property
    def score(self) -> float | None:
        """White's points, or None for a game without a result."""
        return SCORES.get(self.result)


def read_games(paths: Iterable[str]) -> list[PlayedGame]:
    """The games of some files, in their order; an error names the file."""
    games: list[PlayedGame] = []
    for number, path in enumerate(paths):
        found = list(_journal_games(path) if is_journal(path) else _pgn_games(path))
        if not found:
            raise file_error(path, "expected games in this file, found none")
        # Pairs of different files are different pairs.
        games += [
            game if game.pair is None else replace(game, pair=(number, *game.pair))
            for game in found
        ]
    return games


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
    try:
        with open(path, "rb") as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError:
        return False  # whoever reads it next says why


def _journal_games(path: str) -> Iterator[PlayedGame]:
    with read_journal(path) as journal:
        for row in journal.rows():
            pair = (*sorted((row.white, row.black)), row.pair)
            yield PlayedGame(row.white, row.black, row.result, row.termination, pair, row)


def _pgn_games(path: str) -> Iterator[PlayedGame]:
    """The games of a PGN file by their tags alone: the turns may be those of any game."""
    waiting: dict[tuple[object, ...], tuple[str, int]] = {}
    pairs = 0
    for tags in _tag_sets(read_text(path)):
        white, black = tags.get("White", "?"), tags.get("Black", "?")
        key = _opening_key(tags, white, black)
        pair: tuple[object, ...] | None = None
        if PAIR_TAG in tags:
            # Our own files say it, also where the colours were not exchanged.
            pair = (tags[PAIR_TAG],)
        elif key is not None:
            before = waiting.pop(key, None)
            if before is not None and before[0] == black:
                pair = (before[1],)
            else:
                pairs += 1
                pair = (pairs,)
                waiting[key] = (white, pairs)
        termination = tags.get("Termination", "") or "normal"
        yield PlayedGame(white, black, tags["Result"], termination.lower(), pair)


def _opening_key(tags: dict[str, str], white: str, black: str) -> tuple[object, ...] | None:
    """What the two games of a pair have in common, or None where nothing tells."""
    marks = tuple(tags.get(name, "") for name in ("Round", "FEN", "Opening"))
    if all(mark in UNKNOWN for mark in marks):
        return None
    return (frozenset((white, black)), *marks)


def _tag_sets(text: str) -> Iterator[dict[str, str]]:
    """The tags of each game, with Result made sure of; what stands in comments is no tag."""
    tags: dict[str, str] = {}
    moves: list[str] = []
    in_comment = False
    for line in text.splitlines():
        match = None if in_comment else _TAG.fullmatch(line)
        if match is not None:
            if moves:
                yield _with_result(tags, moves)
                tags, moves = {}, []
            tags[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
        elif line.strip():
            moves.append(line)
            last = max(line.rfind("{"), line.rfind("}"))
            if last >= 0:
                in_comment = line[last] == "{"
    if tags or moves:
        yield _with_result(tags, moves)


def _with_result(tags: dict[str, str], moves: list[str]) -> dict[str, str]:
    """The tags with a result: their own, or that which the turns end in."""
    if tags.get("Result") in (*SCORES, "*"):
        return tags
    match = _RESULT.search(moves[-1]) if moves else None
    return tags | {"Result": match[1] if match else "*"}
