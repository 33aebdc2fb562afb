"""Finished games from files, to be gone through move by move: our journals, and PGN files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from merels.engine.common.errors import InputError, placed
from merels.engine.common.files import file_error, read_lines, shown_path
from merels.protocol.formats.game_file import FoundGame, find_games, recognised
from merels.protocol.formats.pgn.reader import check_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record
from merels.tournament.journal.import_games import GamesFile, is_journal, pgn_marks, player_finder
from merels.tournament.journal.players import Roster
from merels.tournament.journal.rows import Row, record_of

_TIMED = re.compile(r"(?:^|\s)\d++(?:\.\d++)?+s\b")
"""The seconds that runners note behind each move of an engine, and behind none of a book."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game of a file, its moves not read yet; ``white`` and ``black`` are ? where unknown."""

    path: str
    number: int
    """In its tournament, of a journal's game; in the file, from 1, of any other."""
    white: str
    black: str
    source: Row | FoundGame
    rules: RecordRules
    stated: str = ""
    """Rules that the journal states."""
    marks: tuple[object, ...] = ()
    """As in `PlayedGame`."""
    keys: tuple[str, str] = ("", "")
    """The players' keys in a roster; empty for those without a name."""
    share: float = 0.0
    """About how much of its file is read with it, from 0 to 1; 0 where that is unknown."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        if isinstance(self.source, FoundGame):
            return self.source.place
        return f"game {self.number} of {shown_path(self.path)}"

    def read(self) -> Record:
        """The whole game, every move checked; an `InputError` says where in the file it fails."""
        if isinstance(self.source, FoundGame):
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
        """How many of the record's first moves no engine chose; 0 where nothing tells."""
        if isinstance(self.source, Row):
            return len(self.source.opening.split())
        timed = (ply for ply, node in enumerate(record.line()) if _TIMED.search(node.comment))
        return next(timed, 0)


def stored_games(
    path: str, rules: RecordRules, roster: Roster | None = None
) -> Iterator[StoredGame]:
    """The games of a journal or of a text file, in order, one at a time; - is standard input.

    ``rules`` hold for records that name none; the players get their keys from ``roster``.
    `InputError` where there is no game.
    """
    game = None
    roster = Roster() if roster is None else roster
    read = _journal_games if is_journal(path) else _text_games
    for game in read(path, rules, roster):
        yield game
    if game is None:
        raise file_error(path, "expected games in this file, found none")


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
                path, row.number, row.white, row.black, row, rules, stated, game.marks,
                (game.white, game.black), index / count,
            )


def _text_games(path: str, rules: RecordRules, roster: Roster) -> Iterator[StoredGame]:
    find = player_finder(roster, path)
    size, read = os.path.getsize(path) if os.path.isfile(path) else 0, 0
    form, lines = recognised(read_lines(path), shown_path(path))
    if form not in ("", "games"):
        raise file_error(path, f"expected games in this file, found {form}")
    for game in find_games(lines, shown_path(path)):
        tags = game.text.tags
        read += len(game.text.text)
        share = min(1.0, read / size) if size else 0.0
        names = tags.get("White", "?"), tags.get("Black", "?")
        yield StoredGame(
            path, game.number, *names, game, rules, "", pgn_marks(tags), find(tags), share
        )
