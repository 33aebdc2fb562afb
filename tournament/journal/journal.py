"""The journal: a SQLite file with a row per finished game, from which all results are derived.

Each game is committed at once, in WAL mode with ``synchronous=NORMAL``. Committed games survive any
crash of the program, ``kill -9`` included, since the operating system holds them. A power failure
may lose the games of the last moments, but never damages the file. ``FULL`` would flush each game
to disk, which is too slow for the fastest tournaments.

SQLite writes on if another program deletes, replaces or overwrites its files, and the games would
be lost at the end. So each append first compares the files with their state after the last write.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import count, starmap
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from merels.engine.common.errors import Failure, InputError, printable
from merels.engine.common.numbers import counted
from merels.protocol.common.files import file_error, unwritable_reason, write_error
from merels.tournament.journal.rows import PER_MOVE, Row

APPLICATION_ID = 0x6D65_7265
"""'mere' in ASCII; marks the file as a journal of merels."""
SCHEMA_VERSION = 5
BUSY_SECONDS = 10.0
"""Longest wait for a lock of another process, in seconds."""
FIRST_MOVES = 20
"""Characters of the moves in a row without moves; they include the first two moves."""
MAX_ROW_BYTES = 1 << 24
"""Largest text or row read from a journal, in bytes."""

TABLES: dict[str, dict[str, type]] = {
    "meta": {"key": str, "value": str}, "games": get_type_hints(Row)
}
"""Columns of a journal's tables with their types; the first column is the key."""
TYPES = {int: "INTEGER", str: "TEXT"}

_LOG, _INDEX = "-wal", "-shm"
"""Suffixes of the write-ahead log and of its index, which SQLite keeps beside an open journal."""
_IN_USE = "another process is using it"
_LOG_ERRORS = ("SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN", "SQLITE_READONLY_CANTINIT")
"""SQLite's errors if the write-ahead log cannot be opened or created."""


class JournalError(Failure):
    """Raised if the journal cannot be written: disk full, file gone, or in use by another run."""


class _FileState(NamedTuple):
    """Identity and content of a file; empty tuples without a file."""

    identity: tuple[int, ...] = ()
    """Device and inode."""
    content: tuple[int, ...] = ()
    """Size and time of the last change."""

    @property
    def size(self) -> int:
        """Size in bytes; 0 without a file."""
        return self.content[0] if self.content else 0


def _state(path: str) -> _FileState:
    try:
        status = os.stat(path)
    except OSError:
        return _FileState()
    return _FileState(
        (status.st_dev, status.st_ino), (status.st_size, status.st_mtime_ns)
    )


class Journal:
    """An open journal; a context manager. ``path`` None keeps it in a temporary file.

    With ``read_only``, neither the file nor its log changes. SQLite would otherwise write the log
    of a killed run into the file.
    """

    def __init__(self, path: str | None, read_only: bool = False) -> None:
        self.path = path
        self._file = os.path.realpath(path) if path else ""
        """Absolute path behind ``path`` and its symbolic links; '' for a temporary file."""
        self.copy_path: str | None = None
        """Path of the copy that `check_files` made."""
        self._states: list[_FileState] = []
        """States of the file, its log and the log's index after the last write.

        Empty before `prepare_writing` and after `checkpoint`."""
        # A URI, so that ``:memory:`` is a file, too.
        uri = Path(self._file).as_uri() if path else ""
        if read_only and _state(self._file + _LOG).size:
            uri += "?mode=ro"  # Without a log, this mode would leave an empty one.
        try:
            self._database = sqlite3.connect(
                uri, timeout=BUSY_SECONDS, isolation_level=None, uri=True
            )
            if read_only:
                self._database.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            why = write_error(path or "") or error
            raise file_error(path or "", f"cannot open this journal: {why}") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing.

    def create(self, settings: str, meta: dict[str, str]) -> None:
        """Create the tables and set the notes, in one transaction."""

        def create_tables() -> None:
            try:
                self._database.executescript(_schema())
            except sqlite3.OperationalError as error:
                if _error_name(error) != "SQLITE_ERROR":
                    raise
                # Another process created the tables after the caller's check.
                raise JournalError(f"cannot create the journal {self.path}: {_IN_USE}") from None
            self._put_meta({"settings": settings, **meta})
            self._database.execute("COMMIT")

        self._write(create_tables)
        # WAL mode writes to the file. If it came first, a crash could leave a file that is neither
        # empty nor a journal.
        self.prepare_writing()

    def prepare_writing(self) -> None:
        """Switch to a write-ahead log, for fast commits."""
        patience = f"busy_timeout = {BUSY_SECONDS * 1000:.0f}"
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", patience):
            self._write(partial(self._database.execute, f"PRAGMA {setting}"))
        self.meta()  # The first query creates the log.
        self._states = self._current_states()

    def append(self, row: Row) -> None:
        """Commit a finished game; see `check_files` for its errors."""
        self.check_files(row)
        marks = ",".join("?" * len(row))
        try:
            self._write(lambda: self._database.execute(f"INSERT INTO games VALUES ({marks})", row))
        except sqlite3.IntegrityError:
            raise JournalError(
                f"game {row.number} is already in {self.path}: another run is writing this journal"
            ) from None

    def set_meta(self, values: dict[str, str]) -> None:
        """Set notes on the tournament, all of them or none."""

        def write() -> None:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._put_meta(values)

        self._write(write)

    def _put_meta(self, values: dict[str, str]) -> None:
        """Set notes within an open transaction."""
        query = "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value"
        self._database.executemany(query, values.items())

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file, which is then readable in a read-only folder.

        Raises JournalError, but loses no game, if the disk is full or another program has the
        journal open.
        """
        self._database.execute("PRAGMA busy_timeout = 0")
        self._write(lambda: self._database.execute("PRAGMA journal_mode = DELETE"))
        self._states = []

    def close(self) -> None:
        """Close the file; a log that cannot be moved into it stays beside it."""
        self._database.close()

    def remove(self) -> None:
        """Close and remove the file, with its log."""
        self.close()
        if self.path is not None:
            remove_files(self.path)

    def _write(self, action: Callable[[], object]) -> None:
        """Run ``action``; raise JournalError with the reason if it fails."""
        try:
            action()
        except sqlite3.IntegrityError:
            raise  # The caller can name the game that is already stored.
        except sqlite3.DatabaseError as error:
            name = self.path or "(temporary file)"
            raise JournalError(f"cannot write the journal {name}: {self._cause(error)}") from error
        if self._states:
            self._states = self._current_states()

    def _cause(self, error: sqlite3.DatabaseError) -> str:
        """Return the reason why SQLite cannot write, and how to go on."""
        if _is_busy(error):
            return _IN_USE
        if _error_name(error) == "SQLITE_FULL":
            return f"{os.strerror(errno.ENOSPC)}; free some space first"
        if self._file and (reason := unwritable_reason(self._file)):
            return f"{reason}; copy it to a folder where you may write"
        return str(error)

    # Changes of the files by other programs.

    def check_files(self, row: Row | None = None) -> None:
        """Raise JournalError if the file was deleted, replaced or overwritten since the last write.

        The games, and ``row``, are then stored in a second file, `copy_path`. If only the log was
        deleted or replaced, write it into the file and create a new one.
        """
        if not self._states or (now := self._current_states()) == self._states:
            return
        damage = self._repair(now)
        if not damage:
            return
        text = f"the {damage} during the run"
        try:
            games = self._save_copy(row)
        except (InputError, JournalError, sqlite3.Error) as error:
            text += f"; its games cannot be saved: {error}"
        else:
            text += f"; {counted(games, 'game')} stored in {self.copy_path}"
        self._withdraw_log(now)
        raise JournalError(text)

    def _repair(self, now: list[_FileState]) -> str:
        """Accept or repair a change of the files; return '' or, as text, a harmful change."""
        (file, log, index), (new_file, new_log, new_index) = self._states, now
        if not new_file.identity:
            return f"journal {self.path} was deleted"
        if new_file.identity != file.identity:
            return f"journal {self.path} was replaced by another file"
        are_same_logs = (log.identity, index) == (new_log.identity, new_index)
        if new_file == file and not are_same_logs:
            try:
                self.checkpoint()
                self.prepare_writing()
            except JournalError:  # Another program reads the journal.
                return f"log of the journal {self.path} was deleted or replaced"
            return ""
        # Do not open an emptied file: SQLite would delete its log and the games in it.
        if new_file.size and self._is_intact():
            self._states = now  # Another program wrote the log into the file.
            return ""
        return f"{'log of the ' if new_file == file else ''}journal {self.path} was overwritten"

    def _withdraw_log(self, now: list[_FileState]) -> None:
        """Prevent the log from being applied to another program's file, now or on opening it."""
        (file, log, _), (new_file, new_log, _) = self._states, now
        with contextlib.suppress(OSError):
            if new_log.identity != log.identity:
                return  # It is another program's log.
            if new_file.identity == file.identity:
                os.truncate(self._file + _LOG, 0)  # Otherwise, closing would apply it.
            else:
                os.remove(self._file + _LOG)
                os.remove(self._file + _INDEX)

    def _current_states(self) -> list[_FileState]:
        """Return the states to compare; readers change the content of the log's index."""
        if not self._file:
            return []
        index = _state(self._file + _INDEX)._replace(content=())
        return [_state(self._file), _state(self._file + _LOG), index]

    def _is_intact(self) -> bool:
        """Return whether a new connection, which has no cache, reads the same games and notes."""
        try:
            with Journal(self._file, read_only=True) as other:
                other.distrust()
                ((fault,),) = other.query("PRAGMA quick_check(1)")
                ours, theirs = ((each.numbers(), each.meta()) for each in (self, other))
                return fault == "ok" and ours == theirs
        except InputError:
            return False

    def _save_copy(self, row: Row | None) -> int:
        """Store the games and ``row`` in a new file, `copy_path`; return their number.

        The file is beside the journal or, without that folder, in the folder of temporary files.
        """
        path = self.path or ""
        if not os.path.isdir(os.path.dirname(self._file)):
            path = os.path.join(tempfile.gettempdir(), os.path.basename(path))
        names = (f"{path}.saved{number or ''}" for number in count())
        path = next(name for name in names if not os.path.lexists(name))
        try:
            with Journal(path) as copy:
                self._database.backup(copy._database)
                ((fault,),) = copy.query("PRAGMA quick_check(1)")
                if fault != "ok":
                    raise copy.damaged(fault)
                if row is not None:
                    copy.append(row)
                copy.checkpoint()
                games = len(copy.numbers())
        except BaseException:
            remove_files(path)
            raise
        self.copy_path = path
        return games

    # Reading.

    def rows(self, *omitted: str, first: int = 1, limit: int = -1) -> Iterator[Row]:
        """Return the games by number, without the columns ``omitted``.

        Omitted columns are empty, except that ``moves`` keeps its first `FIRST_MOVES` characters.
        ``first``: the lowest number; ``limit``: the largest number of games, below 0 for all.
        """
        values = dict.fromkeys(omitted, "''")
        if "moves" in values:
            values["moves"] = f"substr(moves, 1, {FIRST_MOVES})"
        columns = [values.get(name, name) for name in TABLES["games"]]
        query = f"SELECT {', '.join(columns)} FROM games WHERE number >= ? ORDER BY number LIMIT ?"
        return starmap(Row, self.query(query, first, limit))

    def row(self, number: int) -> Row:
        """Return game ``number``, which must exist."""
        return Row(*next(self.query("SELECT * FROM games WHERE number = ?", number)))

    def players(self, number: int) -> tuple[str, str]:
        """Return White and Black of game ``number``, which must exist."""
        names: tuple[str, str] = next(
            self.query("SELECT white, black FROM games WHERE number = ?", number)
        )
        return names

    def numbers(self) -> list[int]:
        """Return the numbers of the played games in rising order."""
        return [number for (number,) in self.query("SELECT number FROM games ORDER BY number")]

    def engines_with_moves(self) -> set[str]:
        """Return the names of the engines in games with at least one move, by either engine."""
        query = "SELECT white, black FROM games WHERE moves <> ''"
        return {name for names in self.query(query) for name in names}

    def rows_without_moves(self, first: int = 1, limit: int = -1) -> Iterator[Row]:
        """Return the games as `rows` does, without the columns `PER_MOVE`."""
        return self.rows(*PER_MOVE, first=first, limit=limit)

    def meta(self) -> dict[str, str]:
        """Return the notes on the tournament, such as ``settings`` (JSON) and ``id``."""
        return dict(self.query("SELECT key, value FROM meta"))

    def query(self, query: str, *values: object) -> Generator[Any]:
        """Yield the rows of a query; raise InputError if the file cannot be read."""
        try:
            # Not `yield from`: closing this generator would also close the cursor, which raises
            # after the journal is closed.
            for row in self._database.execute(query, values):
                yield row
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # UnicodeDecodeError: SQLite's message quotes text of the file that is not UTF-8.
            raise self._unreadable(error) from None

    def distrust(self) -> None:
        """Guard against a hostile file by SQLite's own means; limit rows to `MAX_ROW_BYTES`."""
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
        if sys.version_info >= (3, 12):
            self._database.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON"):
            list(self.query(f"PRAGMA {setting}"))

    def damaged(self, what: str) -> InputError:
        """Return the error for a damaged journal."""
        return file_error(self.path or "", f"this journal is damaged: {printable(what)}")

    def _unreadable(self, error: sqlite3.DatabaseError | UnicodeDecodeError) -> InputError:
        """Return the error for a file that SQLite cannot read."""
        why = f"this is not a complete merels journal: {error}"
        if _is_busy(error):
            why = f"cannot read this journal: {_IN_USE}"
        elif _error_name(error) in _LOG_ERRORS:
            why = ("a run has not closed this journal: move it to a folder where you may write, "
                   "together with the file ending in -wal beside it, if there is one")
        elif _error_name(error).startswith("SQLITE_IOERR"):
            why = f"cannot read this journal: {error}"
        return file_error(self.path or "", why)


def remove_files(path: str) -> None:
    """Remove a journal and the files that SQLite keeps beside it, as far as they exist."""
    for ending in ("", _LOG, _INDEX, "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path + ending)


def _schema() -> str:
    """Return the statements that create the tables, in a transaction left open."""
    script = "BEGIN;"
    for table, columns in TABLES.items():
        fields = ", ".join(f"{name} {TYPES[kind]} NOT NULL" for name, kind in columns.items())
        key, kind = next(iter(columns.items()))
        ending = "" if kind is int else "WITHOUT ROWID"
        script += f"CREATE TABLE {table} ({fields}, PRIMARY KEY ({key})) {ending};"
    marks = {"application_id": APPLICATION_ID, "user_version": SCHEMA_VERSION}
    return script + "".join(f"PRAGMA {name} = {value};" for name, value in marks.items())


def _error_name(error: sqlite3.DatabaseError | UnicodeDecodeError) -> str:
    """Return the name of SQLite's error; empty for an error of Python."""
    return getattr(error, "sqlite_errorname", "")


def _is_busy(error: sqlite3.DatabaseError | UnicodeDecodeError) -> bool:
    return _error_name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
