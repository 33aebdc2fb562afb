"""Games in journals and text files, with their moves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from merels.engine.common.errors import InputError, placed
from merels.protocol.common.files import shown_path
from merels.protocol.formats.files import GameItem, read_file
from merels.protocol.formats.pgn.reader import check_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record
from merels.tournament.journal.import_games import (
    GamesFile,
    is_journal,
    pgn_identities,
    player_finder,
)
from merels.tournament.journal.players import Roster
from merels.tournament.journal.rows import Row, record_of

_TIMED = re.compile(r"(?:^|\s)\d++(?:\.\d++)?s\b")
"""Time in a move's comment, which runners write for moves of engines, not of the opening."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game in a file, whose moves `read` returns. The name of an unknown player is ``?``."""

    path: str
    number: int
    """Number in the tournament for a journal, else in the file; from 1."""
    white: str
    black: str
    source: Row | GameItem
    rules: RecordRules
    stated: str = ""
    """Rules stated by the journal."""
    identities: tuple[object, ...] = ()
    """Identities, as in `PlayedGame`."""
    keys: tuple[str, str] = ("", "")
    """Keys of White and Black in the roster; empty for players without a name."""
    share: float = 0.0
    """Approximate share of the file read after this game, 0 to 1; 0 if unknown."""

    @property
    def place(self) -> str:
        """Number and file of the game, for messages."""
        if isinstance(self.source, GameItem):
            return self.source.place
        return f"game {self.number} of {shown_path(self.path)}"

    def read(self) -> Record:
        """Return the game with all moves checked; InputError names the place of a fault."""
        if isinstance(self.source, GameItem):
            return self.source.read(self.rules)
        try:
            record = record_of(self.source, self.rules.of(self.stated))
            record.tags = {
                "Round": str(self.source.round), "White": self.white, "Black": self.black,
                "Termination": self.source.termination,
            }
            check_record(record, self.rules)
        except InputError as error:
            raise placed(error, self.place) from None
        return record

    def opening_plies(self, record: Record) -> int:
        """Return the number of moves before the first move of an engine; 0 if unknown."""
        if isinstance(self.source, Row):
            return len(self.source.opening.split())
        return untimed_plies(record)


def untimed_plies(record: Record) -> int:
    """Return the number of moves before the first with a time; 0 if no move has one."""
    timed = (ply for ply, node in enumerate(record.mainline()) if _TIMED.search(node.comment))
    return next(timed, 0)


def stored_games(
    path: str, rules: RecordRules, roster: Roster | None = None
) -> Iterator[StoredGame]:
    """Yield the games of a journal or text file in order; ``-`` is standard input.

    ``rules`` apply to records that name none. The players are added to ``roster``. Raises
    InputError without games.
    """
    read = _journal_games if is_journal(path) else _text_games
    yield from read(path, rules, Roster() if roster is None else roster)


def _journal_games(path: str, rules: RecordRules, roster: Roster) -> Iterator[StoredGame]:
    file = GamesFile(path)
    assert file.journal is not None and file.settings is not None
    with file.journal as journal:
        stated = file.settings.rules
        try:
            rules.of(stated)
        except InputError as error:
            raise journal.damaged(str(error)) from None
        ((count,),) = journal.query("SELECT count(*) FROM games")
        for index, game in enumerate(file.games(roster), 1):
            assert (row := game.row) is not None
            yield StoredGame(
                path, row.number, row.white, row.black, row, rules, stated, game.identities,
                (game.white, game.black), index / count,
            )


def _text_games(path: str, rules: RecordRules, roster: Roster) -> Iterator[StoredGame]:
    find = player_finder(roster, path)
    size, read = os.path.getsize(path) if os.path.isfile(path) else 0, 0
    for game in read_file(path, games_only=True):
        assert isinstance(game, GameItem)
        tags = game.text.tags
        read += len(game.text.text)
        share = min(1.0, read / size) if size else 0.0
        names = tags.get("White", "?"), tags.get("Black", "?")
        yield StoredGame(
            path, game.number, *names, game, rules, "", pgn_identities(tags), find(tags), share
        )
