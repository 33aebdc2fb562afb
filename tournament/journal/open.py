"""Opening a journal: to begin a tournament, to resume one, or to read."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from merels.tournament.journal.check import check_journal
from merels.tournament.journal.journal import Journal
from merels.tournament.records.files import file_error
from merels.tournament.records.settings import Settings, differences


def open_journal(
    path: str | None, settings: Settings, resume: bool, meta: dict[str, str]
) -> Journal:
    """The journal of a tournament: a new one, or with ``resume`` one that was begun.

    An existing journal is never written over, and one of another tournament is refused.
    """
    ours = settings.as_json()
    if path is None or is_new(path):
        with _closed_on_failure(path) as journal:
            journal.create(ours, meta)
        return journal
    if not resume:
        raise file_error(path, "this file exists; add -resume to continue it, or name another")
    with _closed_on_failure(path) as journal:
        check_journal(journal)
        theirs = journal.meta()["settings"]
        changed = differences(ours, theirs)
        if changed:
            what = "; ".join(changed)
            raise file_error(path, f"this is the journal of another tournament; {what}")
        journal.prepare_writing()
        if ours != theirs:
            # The command line goes with the settings that it asks for, and goes first: killed
            # in between, it may ask for more rounds than there are, but never for fewer.
            journal.set_meta({"arguments": meta["arguments"], "settings": ours})
    return journal


def read_journal(path: str) -> Journal:
    """An existing journal, checked, to read from."""
    if not os.path.isfile(path):
        raise file_error(path, "cannot read this journal: no such file")
    with _closed_on_failure(path) as journal:
        check_journal(journal)
        journal.protect()
    return journal


def stored(path: str) -> tuple[int, list[str]] | None:
    """The seed and the command line of a journal's tournament; None before there is one."""
    if is_new(path):
        return None
    with read_journal(path) as journal:
        meta = journal.meta()
    return json.loads(meta["settings"])["seed"], json.loads(meta["arguments"])


def is_new(path: str) -> bool:
    """Whether there is no journal at a path yet; an `InputError` where there can be none."""
    if not os.path.exists(path):
        return True
    if not os.path.isfile(path):
        raise file_error(path, "expected a file for the journal; this is a folder or a device")
    return os.path.getsize(path) == 0


@contextlib.contextmanager
def _closed_on_failure(path: str | None) -> Iterator[Journal]:
    """An open journal, unchecked, which stays open unless something fails."""
    journal = Journal(path)
    try:
        yield journal
    except BaseException:
        journal.close()
        raise
