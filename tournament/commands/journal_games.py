"""Reading positions, games and rules from files and journals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from merels.engine.common.errors import InputError, placed
from merels.engine.common.files import errors_at, file_error, shown_path
from merels.protocol.formats.items import Item, OnInvalid, text_items
from merels.protocol.formats.pgn.reader import check_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.tournament.journal.import_games import is_journal
from merels.tournament.journal.open import read_journal
from merels.tournament.records.settings import read_settings
from merels.tournament.views.pgn import GameWriter

JOURNAL = "journal"
"""The form of a file that `merels tournament` writes."""


def read_items(
    path: str, form: str | None, rules: RecordRules, on_fault: OnInvalid | None = None
) -> Iterator[Item]:
    """Yield the positions, games or rules of a text file, or the games of a journal.

    ``form``: the format of the file, None to detect it. ``on_fault`` is called with the error of
    each item that cannot be read; by default, the first error is raised. Raise `InputError` if the
    file has no items.
    """
    faults = 0

    def report(error: InputError) -> None:
        nonlocal faults
        faults += 1
        if on_fault is None:
            raise error
        on_fault(error)

    is_journaled = form == JOURNAL or form is None and is_journal(path)
    item = None
    for item in (_journaled(path, rules, report) if is_journaled
                 else text_items(path, form, rules, report)):
        yield item
    if item is None and not faults:
        raise file_error(shown_path(path), "expected positions, games or rules here, found none")


def _journaled(path: str, rules: RecordRules, report: OnInvalid) -> Iterator[Item]:
    """Yield the games of a journal with all their tags and comments.

    Moves are checked, because the journal may come from elsewhere.
    """
    with read_journal(path) as journal:
        notes = journal.meta()
        with errors_at(shown_path(path)):
            settings = read_settings(notes["settings"])
            stated = rules.of(settings.rules)
            writer = GameWriter(replace(settings, rules=str(stated)), notes["id"])
        for row in journal.rows():
            place = f"game {row.number} of {shown_path(path)}"
            try:
                record = writer.record(row)
                check_record(record, rules)
            except InputError as error:
                report(placed(error, place))
            else:
                yield Item(record, place)
