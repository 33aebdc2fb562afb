"""The commands ``convert`` and ``review`` with a reader of journals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from merels.engine.common.errors import InputError, placed
from merels.protocol.commands import convert as convert_command
from merels.protocol.commands import review as review_command
from merels.protocol.common.files import errors_at, shown_path
from merels.protocol.formats.files import FileItem
from merels.protocol.formats.pgn.reader import check_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record
from merels.tournament.journal.import_games import is_journal
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import Row
from merels.tournament.records.settings import Settings, read_settings
from merels.tournament.views.pgn import GameWriter


def convert(argv: list[str]) -> int:
    """Run ``merels convert``; return the exit status."""
    return convert_command.main(argv, journaled)


def review(argv: list[str]) -> int:
    """Run ``merels review``; return the exit status."""
    return review_command.main(argv, journaled)


@dataclass(frozen=True, slots=True)
class JournalGame:
    """A game of a journal, see `FileItem`, with all its tags and comments."""

    number: int
    place: str
    row: Row
    settings: Settings
    tournament: str

    def read(self, rules: RecordRules, form: str | None = None) -> Record:
        """Return the game; moves are checked, because the journal may come from elsewhere."""
        try:
            stated = replace(self.settings, rules=str(rules.of(self.settings.rules)))
            record = GameWriter(stated, self.tournament).record(self.row)
            check_record(record, rules)
        except InputError as error:
            raise placed(error, self.place) from None
        return record


def journaled(path: str, expected: bool) -> Iterator[FileItem] | None:
    """Return the games of a journal, or None if the file is none and none is ``expected``."""
    return _games(path) if expected or is_journal(path) else None


def _games(path: str) -> Iterator[FileItem]:
    with read_journal(path) as journal:
        notes = journal.meta()
        with errors_at(shown_path(path)):
            settings = read_settings(notes["settings"])
        for row in journal.rows():
            place = f"game {row.number} of {shown_path(path)}"
            yield JournalGame(row.number, place, row, settings, notes["id"])
