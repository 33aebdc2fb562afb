"""Opening journals to start, resume or read a tournament."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.common.saving import create_lock, publish, remove_lock
from merels.protocol.common.files import file_error, new_draft, system_error
from merels.protocol.games.tree import RESULTS
from merels.tournament.journal.compare import differences, listed
from merels.tournament.journal.journal import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    TABLES,
    Journal,
    remove_files,
)
from merels.tournament.records.settings import LEAGUE, Settings, read_settings

LOCK_ENDING = ".lock"
"""Suffix of the lock file, which exists while a run writes the journal."""
ROLLBACK_ENDING = "-journal"
"""Suffix of SQLite's rollback journal, which exists while a journal is created."""
_DAMAGED_GAME = (
    f"SELECT number FROM games WHERE result NOT IN {RESULTS} OR position NOT LIKE '% % % % % %' "
    "LIMIT 1"
)
"""Selects a game that no run has written; SQLite's own check reads no values."""


def check_new(path: str | None, settings: Settings) -> None:
    """Raise InputError if a journal cannot be created, because its file exists and is not empty.

    A journal of the same command that holds no game may be replaced.
    """
    if path is None or is_new(path):
        return
    try:
        stored = open_run(path, read_only=True)
    except InputError as error:
        raise InputError(error.token, f"{error.expected}; name another file") from None
    is_ours = stored.command == command_of(settings)
    with stored.journal:
        if is_ours and not stored.journal.numbers():
            return
    can_continue = is_ours and not stored.settings.is_converted
    advice = "add -resume to continue it, or name" if can_continue else "name"
    raise file_error(path, f"this file exists; {advice} another file")


def open_journal(path: str | None, settings: Settings, meta: dict[str, str]) -> Journal:
    """Create a journal; for the errors see `check_new`."""
    check_new(path, settings)
    if path is not None and not is_new(path):
        remove_files(os.path.realpath(path))
    journal = Journal(path)
    with _closed_on_failure(journal):
        journal.create(settings.as_json(), meta)
    return journal


class StoredRun(NamedTuple):
    """The run of an open journal, after the checks of `open_run`."""

    journal: Journal
    settings: Settings
    notes: dict[str, str]
    """Notes of the journal, including ``settings``."""

    @property
    def words(self) -> list[str]:
        """Command line of the settings, as words."""
        words: list[str] = json.loads(self.notes["arguments"])
        return words

    @property
    def folder(self) -> str:
        """Working directory of the command line; empty in older journals."""
        return self.notes.get("folder", "")

    @property
    def command(self) -> str:
        """Command that continues the run."""
        return command_of(self.settings)


def command_of(settings: Settings) -> str:
    """Return the command that plays games with these settings."""
    if settings.format == LEAGUE:
        return "merels league"
    return "merels tournament" if settings.tuning is None else "merels tune"


def open_run(path: str, read_only: bool = False) -> StoredRun:
    """Open and check an existing journal, to read it or to continue its run."""
    journal = Journal(path, read_only)
    with _closed_on_failure(journal):
        return _check(journal)


def continue_run(stored: StoredRun, settings: Settings, meta: dict[str, str]) -> None:
    """Prepare a journal for more games with settings that `check_changes` has accepted."""
    journal, ours = stored.journal, settings.as_json()
    journal.prepare_writing()
    if ours != stored.notes["settings"]:
        changed = {name: text for name, text in meta.items() if name in ("arguments", "folder")}
        journal.set_meta({**changed, "settings": ours})


def check_changes(stored: StoredRun, settings: Settings) -> None:
    """Raise InputError for settings with which the run cannot continue; any, without games."""
    here, journal = os.getcwd(), stored.journal
    if settings.as_json() == stored.notes["settings"] or not journal.numbers():
        return
    folders = here, stored.notes.get("folder", here)
    changes = differences(settings, stored.settings, journal.engines_with_moves(), folders)
    if changes:
        what = listed(changes, "now", "in the journal")
        kind = "tournament" if settings.tuning is None else "tune"
        raise file_error(
            journal.path or "",
            f"this is the journal of another {kind}; {what}; name another file for this run",
        )


@contextlib.contextmanager
def reserved(path: str | None) -> Iterator[None]:
    """Keep other runs from writing to a journal; InputError if another run is writing it.

    The lock file is beside the journal itself, not beside a symbolic link to it.
    """
    if path is None:
        yield
        return
    lock = os.path.realpath(path) + LOCK_ENDING
    try:
        descriptor = create_lock(lock)
    except BlockingIOError:
        raise file_error(
            path, "another run is writing this journal; wait until it ends, or name another file"
        ) from None
    try:
        yield
    finally:
        remove_lock(descriptor, lock)


@contextlib.contextmanager
def new_journal(path: str) -> Iterator[Journal]:
    """Yield a journal to fill; it appears at ``path`` only when it is complete.

    Raises InputError if ``path`` exists.
    """
    _check_free(path)
    draft = new_draft(path)
    try:
        with Journal(draft) as journal:
            journal.path = path  # Errors name the user's path, not the draft.
            yield journal
            # `publish` renames only the database file, so the log must be moved into it.
            journal.checkpoint()
        _check_free(path)
        publish(draft, path)
    except BaseException as error:
        remove_files(draft)
        if isinstance(error, OSError):
            raise system_error(path, "write", error) from None
        raise


def _check_free(path: str) -> None:
    """Raise InputError if a path exists."""
    if os.path.lexists(path):
        raise file_error(path, "this file exists; name another file to write to")


def read_journal(path: str) -> Journal:
    """Open and check an existing journal for reading only."""
    if not os.path.isfile(path):
        raise file_error(path, "cannot read this journal: no such file")
    return open_run(path, read_only=True).journal


def is_new(path: str) -> bool:
    """Return whether a journal can be created at a path; InputError for a folder or device."""
    if not os.path.exists(path):
        return True
    if not os.path.isfile(path):
        raise file_error(path, "expected a file for the journal; this is a folder or a device")
    if os.path.getsize(path) and os.path.exists(os.path.realpath(path) + ROLLBACK_ENDING):
        # A run was killed while it created the journal. Reading undoes the unfinished creation.
        with Journal(path) as journal:
            list(journal.query("PRAGMA application_id"))
    return os.path.getsize(path) == 0


@contextlib.contextmanager
def _closed_on_failure(journal: Journal) -> Iterator[None]:
    """Close a journal if an exception is raised."""
    try:
        yield
    except BaseException:
        journal.close()
        raise


def _check(journal: Journal) -> StoredRun:
    """Return the run of a journal; InputError if it is damaged or of another version."""
    journal.distrust()
    ((application,),) = journal.query("PRAGMA application_id")
    if application != APPLICATION_ID:
        raise file_error(journal.path or "", "this file is not a merels journal")
    ((version,),) = journal.query("PRAGMA user_version")
    if version != SCHEMA_VERSION:
        what = f"this journal has format {version}, this program reads format {SCHEMA_VERSION}"
        raise file_error(journal.path or "", f"{what}; use the version of merels that wrote it")
    # Triggers and views would run code.
    if {*journal.query("SELECT type, name FROM sqlite_master")} != {("table", t) for t in TABLES}:
        raise journal.damaged("it has triggers, views, or other tables than a journal")
    for table, columns in TABLES.items():
        list(journal.query(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0"))
    ((fault,),) = journal.query("PRAGMA quick_check(1)")
    if fault != "ok":
        raise journal.damaged(fault)
    meta = journal.meta()
    try:
        settings = _checked_settings(meta)
    except ValueError as error:
        raise journal.damaged(str(error)) from None
    for (number,) in journal.query(_DAMAGED_GAME):
        raise journal.damaged(f"game {number} has an impossible result or position")
    return StoredRun(journal, settings, meta)


def _checked_settings(meta: dict[str, str]) -> Settings:
    """Return the settings in a journal's notes; ValueError names an invalid note."""
    try:
        settings = read_settings(meta["settings"])
        arguments = json.loads(meta["arguments"])
    except KeyError as error:
        raise ValueError(f"it has no {error.args[0]}") from None
    except RecursionError:
        raise ValueError("its notes are nested too deeply") from None
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise ValueError("its command line is not a list of words")
    if "id" not in meta:
        raise ValueError("it has no id")
    if meta.get("verdict", "H0") not in ("H0", "H1"):
        raise ValueError("its verdict is neither H0 nor H1")
    if "verdict" in meta and settings.sprt is None:
        raise ValueError("it has a verdict, but no SPRT")
    return settings
