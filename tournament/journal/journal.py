"""The journal: a SQLite file with one row for each finished game, from which all else is derived.

Each game is committed at once. The journal is kept in WAL mode with ``synchronous=NORMAL``: what
is committed outlives any crash of the program (``kill -9`` included), for it is in the system's
hands; only a loss of power may take the games of the last moments with it, and never damages the
file. ``FULL`` would add a disk flush for each game, which the fastest tournaments cannot afford.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import starmap
from typing import Any, get_type_hints

from merels.engine.common.errors import Failure, InputError, printable
from merels.engine.common.files import file_error, write_error
from merels.tournament.journal.rows import PER_MOVE, Row

APPLICATION_ID = 0x6D65_7265
"""'mere' in the file's header marks it as ours."""
SCHEMA_VERSION = 5
BUSY_SECONDS = 10.0
LONGEST_FIELD = 1 << 24
"""Bytes of the longest text that is read from a journal: a game of some 500,000 moves."""

TABLES: dict[str, dict[str, type]] = {
    "meta": {"key": str, "value": str}, "games": get_type_hints(Row)
}
"""The columns of a journal's tables with their types; the first is the key."""
TYPES = {int: "INTEGER", str: "TEXT"}

_IN_USE = "another process is using it"
_NEEDS_ITS_LOG = ("SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN", "SQLITE_READONLY_CANTINIT")
"""SQLite's errors for a journal whose log is beside it or cannot be created."""


class JournalError(Failure):
    """The journal cannot be written: the disk is full, the file is gone or another run has it."""


class Journal:
    """An open journal; a context manager. ``path`` None keeps it in a temporary file."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        try:
            self._database = sqlite3.connect(path or "", timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            why = write_error(path or "") or error
            raise file_error(path or "", f"cannot open this journal: {why}") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing.

    def create(self, settings: str, meta: dict[str, str]) -> None:
        """Lay out an empty journal in one transaction: after a crash it is there or it is not."""

        def lay_out() -> None:
            try:
                self._database.executescript(_schema())
            except sqlite3.OperationalError as error:
                if _name(error) != "SQLITE_ERROR":
                    raise
                # The tables are there, and were not when we looked.
                raise JournalError(f"cannot begin the journal {self.path}: {_IN_USE}") from None
            self._put_meta({"settings": settings, **meta})
            self._database.execute("COMMIT")

        self._write(lay_out)
        # Not before: it writes to the file, which is then neither empty nor a journal.
        self.prepare_writing()

    def prepare_writing(self) -> None:
        """Have games committed to a write-ahead log, which is fast."""
        for setting in ("journal_mode = WAL", "synchronous = NORMAL"):
            self._write(partial(self._database.execute, f"PRAGMA {setting}"))

    def append(self, row: Row) -> None:
        """Commit one finished game."""
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

    def fold(self) -> None:
        """Fold the write-ahead log into the file, so that it can be read from a read-only folder.

        `JournalError` if the disk is full or another program has the journal open: then
        the log stays beside the file, and nothing is lost.
        """
        self._database.execute("PRAGMA busy_timeout = 0")
        self._write(lambda: self._database.execute("PRAGMA journal_mode = DELETE"))

    def close(self) -> None:
        """Close the file. What cannot be folded into it now stays in the log beside it."""
        self._database.close()

    def remove(self) -> None:
        """Close the file and remove it, with the files beside it."""
        self.close()
        if self.path is not None:
            remove_files(self.path)

    def _write(self, action: Callable[[], object]) -> None:
        """Write; raise `JournalError` with the reason and the remedy if that fails."""
        try:
            action()
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            why = _IN_USE if _is_busy(error) else error
            raise JournalError(
                f"cannot write the journal {self.path or '(temporary file)'}: {why}"
            ) from error

    # Reading.

    def rows(self, *left_out: str) -> Iterator[Row]:
        """Every game in the order of their numbers; columns that are ``left_out`` read as empty."""
        columns = ["''" if name in left_out else name for name in TABLES["games"]]
        query = f"SELECT {', '.join(columns)} FROM games ORDER BY number"
        return starmap(Row, self.query(query))

    def row(self, number: int) -> Row:
        """The game of that number, which must be there."""
        return Row(*next(self.query("SELECT * FROM games WHERE number = ?", number)))

    def numbers(self) -> list[int]:
        """The numbers of the games played, rising."""
        return [number for (number,) in self.query("SELECT number FROM games ORDER BY number")]

    def movers(self) -> set[str]:
        """The engines that have played: those of games with a move, whoever made it."""
        query = "SELECT white, black FROM games WHERE moves <> ''"
        return {name for names in self.query(query) for name in names}

    def results(self) -> Iterator[Row]:
        """Every game in the order of their numbers, without the columns of `PER_MOVE`."""
        return self.rows(*PER_MOVE)

    def meta(self) -> dict[str, str]:
        """The notes on the tournament: ``settings`` as JSON, ``id``, ``arguments`` …"""
        return dict(self.query("SELECT key, value FROM meta"))

    def query(self, query: str, *values: object) -> Generator[Any]:
        """Yield the rows of a query; raise `InputError` if the file cannot be read."""
        try:
            # Not `yield from`: closing this generator would close SQLite's cursor, too, which
            # raises once the journal is closed.
            for row in self._database.execute(query, values):
                yield row
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # The latter: a message of SQLite's quotes text of the file that is not UTF-8.
            raise self._unreadable(error) from None

    def distrust(self) -> None:
        """Run nothing that the file brings along, and read no field longer than `LONGEST_FIELD`."""
        self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_FIELD)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON"):
            list(self.query(f"PRAGMA {setting}"))

    def damaged(self, what: str) -> InputError:
        """The error of a file that is not what a journal should be."""
        return file_error(self.path or "", f"this journal is damaged: {printable(what)}")

    def _unreadable(self, error: sqlite3.DatabaseError | UnicodeDecodeError) -> InputError:
        """Why the file cannot be read, as SQLite says."""
        why = f"this is not a whole journal: {error}"
        if _is_busy(error):
            why = f"cannot read this journal: {_IN_USE}"
        elif _name(error) in _NEEDS_ITS_LOG:
            why = ("a run has not closed this journal: move it, with the file ending in -wal"
                   " beside it if there is one, to a folder where you may write")
        elif _name(error).startswith("SQLITE_IOERR"):
            why = f"cannot read this journal: {error}"
        return file_error(self.path or "", why)


def remove_files(path: str) -> None:
    """Remove what there is of a journal, with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path + ending)


def _schema() -> str:
    """The statements that begin a journal, in a transaction that is left open."""
    script = "BEGIN;"
    for table, columns in TABLES.items():
        fields = ", ".join(f"{name} {TYPES[kind]} NOT NULL" for name, kind in columns.items())
        key, kind = next(iter(columns.items()))
        ending = "" if kind is int else "WITHOUT ROWID"
        script += f"CREATE TABLE {table} ({fields}, PRIMARY KEY ({key})) {ending};"
    marks = {"application_id": APPLICATION_ID, "user_version": SCHEMA_VERSION}
    return script + "".join(f"PRAGMA {name} = {value};" for name, value in marks.items())


def _name(error: sqlite3.DatabaseError | UnicodeDecodeError) -> str:
    """SQLite's name of an error; Python's own, such as invalid text, have none."""
    return getattr(error, "sqlite_errorname", "")


def _is_busy(error: sqlite3.DatabaseError | UnicodeDecodeError) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
