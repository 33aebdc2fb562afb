"""Finished games from files, to be gone through move by move: our journals, and PGN files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.pgn.tokens import GameText
from merels.engine.game.record import Record
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.formats import read_record
from merels.tournament.journal.import_games import (
    JournalPlayers,
    PgnPlayers,
    game_marks,
    is_journal,
    pgn_marks,
)
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.pgn_text import pgn_texts
from merels.tournament.journal.players import Roster
from merels.tournament.journal.rows import Row
from merels.tournament.records.files import file_error
from merels.tournament.records.settings import read_settings

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
    source: Row | GameText
    rules: Rules
    """The journal's, or those of a record that names none."""
    marks: tuple[object, ...] = ()
    """As in `PlayedGame`."""
    keys: tuple[str, str] = ("", "")
    """The players' keys in a roster; empty for those without a name."""
    share: float = 0.0
    """About how much of its file is read with it, from 0 to 1; 0 where that is unknown."""

    def read(self) -> Record:
        """The whole game, every move checked; an `InputError` says where in the file it fails."""
        try:
            if isinstance(self.source, Row):
                return _record_of(self.source, self.rules)
            return read_record(self.source.text, self.rules, self.source.line)
        except InputError as error:
            path = "standard input" if self.path == "-" else printable(self.path)
            place = f"game {self.number} of {path}"
            raise InputError(error.token, f"{error.expected}, in {place}") from None

    def opening_plies(self, record: Record) -> int:
        """How many of the record's first moves no engine chose; 0 where nothing tells."""
        if isinstance(self.source, Row):
            return len(self.source.opening.split())
        timed = (ply for ply, text in enumerate(record.comments) if _TIMED.search(text))
        return next(timed, 0)


def stored_games(path: str, rules: Rules, roster: Roster | None = None) -> Iterator[StoredGame]:
    """The games of a journal or of a PGN file, in order, one at a time; - is standard input.

    ``rules`` hold for records that name none; the players get their keys from ``roster``.
    `InputError` where there is no game.
    """
    game = None
    roster = Roster() if roster is None else roster
    read = _journal_games(path, roster) if is_journal(path) else _pgn_games(path, rules, roster)
    for game in read:
        yield game
    if game is None:
        raise file_error(path, "expected games in this file, found none")


def _journal_games(path: str, roster: Roster) -> Iterator[StoredGame]:
    with read_journal(path) as journal:
        meta = journal.meta()
        settings = read_settings(meta["settings"])
        try:
            rules = parse_rules(settings.rules)
        except InputError as error:
            raise journal.damaged(str(error)) from None
        find = JournalPlayers(roster, settings, path).find
        ((count,),) = journal.query("SELECT count(*) FROM games")
        for index, row in enumerate(journal.rows(), 1):
            identity = f"{meta['id']}-{row.number}"
            marks = game_marks(identity, row.white, row.black, row.started)
            names = row.white, row.black
            share = index / count
            yield StoredGame(path, row.number, *names, row, rules, marks, find(row), share)


def _pgn_games(path: str, rules: Rules, roster: Roster) -> Iterator[StoredGame]:
    find = PgnPlayers(roster, path).find
    size, read = os.path.getsize(path) if os.path.isfile(path) else 0, 0
    for number, game in enumerate(pgn_texts(path), 1):
        names = game.tags.get("White", "?"), game.tags.get("Black", "?")
        marks = pgn_marks(game.tags)
        read += len(game.text)
        share = min(1.0, read / size) if size else 0.0
        yield StoredGame(path, number, *names, game, rules, marks, find(game.tags), share)


def _record_of(row: Row, rules: Rules) -> Record:
    """A journaled game, which a stranger may have written, as a record."""
    record = Record(parse_position(row.position, rules), result=row.result)
    record.tags = {
        "Round": str(row.round), "White": row.white, "Black": row.black,
        "Termination": row.termination,
    }
    position = record.start
    for text in (*row.opening.split(), *row.moves.split()):
        move = parse_move(text)
        position = position.push(move)
        record.moves.append(move)
    record.comments = [""] * len(record.moves)
    if record.moves:
        record.comments[-1] = row.reason
    else:
        record.opening_comment = row.reason
    return record
