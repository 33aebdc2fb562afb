"""The journal: a SQLite file with one row a finished game, from which all else is derived.

Each game is committed at once. The journal is kept in WAL mode with ``synchronous=NORMAL``: what
is committed outlives any crash of the program (``kill -9`` included), for it is in the system's
hands; only a loss of power may take the games of the last moments with it, and never damages the
file. ``FULL`` would add a disk flush a game, which the fastest tournaments cannot afford.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, get_type_hints

from merels.engine.game.errors import Failure, InputError, printable
from merels.tournament.records.files import file_error
from merels.tournament.records.games import GameResult, MoveRecord
from merels.tournament.records.settings import Settings, check_settings, differences, engine_names
from merels.tournament.statistics.terminations import Ending

APPLICATION_ID = 0x6D65_7265
"""'mere' in the file's header marks it as ours."""
SCHEMA_VERSION = 1
BUSY_SECONDS = 10.0
_NEEDS_ITS_LOG = ("SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN", "SQLITE_READONLY_CANTINIT")
"""What SQLite says of a journal with a log beside it, or none where it would make one."""
_IN_USE = "another process is using it"
LONGEST_FIELD = 1 << 24
"""Bytes of the longest text that is read from a journal: a game of some 500,000 moves."""

SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""White's points by result; a game broken off (``*``) has none."""

_SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE games (
    number INTEGER PRIMARY KEY,   -- of the game in the tournament, from 1
    round INTEGER NOT NULL,
    pair INTEGER NOT NULL,        -- the same for the games of one opening
    white TEXT NOT NULL,
    black TEXT NOT NULL,
    position TEXT NOT NULL,       -- of the opening, before its moves
    opening TEXT NOT NULL,        -- moves of the opening, parted by blanks
    opening_name TEXT NOT NULL,
    result TEXT NOT NULL,
    termination TEXT NOT NULL,
    reason TEXT NOT NULL,
    moves TEXT NOT NULL,          -- moves played, parted by blanks
    scores TEXT NOT NULL,         -- one word a move: 79 (centi-men), #5, #-4 (plies), or -
    depths TEXT NOT NULL,
    nodes TEXT NOT NULL,
    times TEXT NOT NULL,          -- nanoseconds spent on each move
    clocks TEXT NOT NULL,         -- nanoseconds left after each move, or -
    started TEXT NOT NULL,        -- UTC, ISO 8601
    elapsed INTEGER NOT NULL      -- nanoseconds
);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


class JournalError(Failure):
    """The journal cannot be written: the disk is full, the file is gone or another run has it."""


class Row(NamedTuple):
    """One journaled game, as it stands in the table."""

    number: int
    round: int
    pair: int
    white: str
    black: str
    position: str
    opening: str
    opening_name: str
    result: str
    termination: str
    reason: str
    moves: str
    scores: str
    depths: str
    nodes: str
    times: str
    clocks: str
    started: str
    elapsed: int

    @property
    def white_score(self) -> float | None:
        """White's points, or None for a game that was broken off."""
        return SCORES.get(self.result)

    def played(self) -> list[MoveRecord]:
        """The moves with what was recorded of each; `InputError` where that is no number."""
        columns = (self.moves, self.scores, self.depths, self.nodes, self.times, self.clocks)
        try:
            return [
                MoveRecord(
                    move, *_parse_score(score), _number(depth), _number(nodes), _number(time),
                    None if clock == "-" else _number(clock),
                )
                for move, score, depth, nodes, time, clock in zip(
                    *(column.split() for column in columns), strict=True
                )
            ]
        except ValueError:
            raise InputError(
                f"game {self.number}", "expected numbers for its moves; the journal is damaged"
            ) from None


_TABLES = {"meta": {"key": str, "value": str}, "games": get_type_hints(Row)}
"""The columns of a journal's tables with their types."""
_TYPES = {int: "integer", str: "text"}


def make_row(result: GameResult) -> Row:
    """The row of a finished game."""
    spec, moves = result.spec, result.moves
    return Row(
        spec.number, spec.round, spec.pair, spec.white.name, spec.black.name,
        spec.opening.position, " ".join(spec.opening.moves), spec.opening.name,
        result.result, result.termination, printable(result.reason),
        " ".join(t.move for t in moves),
        " ".join(map(_score_word, moves)),
        " ".join(str(t.depth) for t in moves),
        " ".join(str(t.nodes) for t in moves),
        " ".join(str(t.elapsed) for t in moves),
        " ".join("-" if t.clock is None else str(t.clock) for t in moves),
        result.started, result.elapsed,
    )


def _score_word(move: MoveRecord) -> str:
    """An engine's score as one word."""
    if move.win_in is not None:
        return f"#{move.win_in}"
    return "-" if move.score is None else str(move.score)


def _parse_score(word: str) -> tuple[int | None, int | None]:
    """The centi-men and the plies to the end that such a word stands for."""
    if word.startswith("#"):
        return None, _number(word[1:])
    return (None if word == "-" else _number(word)), None


def _number(word: str) -> int:
    """A whole number of at most 64 bits; ValueError for anything else."""
    number = int(word)
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError(word)
    return number


class Journal:
    """An open journal; a context manager. ``path`` None keeps it in a temporary file."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._database = sqlite3.connect(path or "", isolation_level=None, timeout=BUSY_SECONDS)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, settings: str, meta: dict[str, str]) -> None:
        """Lay out an empty journal in one transaction: after a crash it is there or it is not."""

        def lay_out() -> None:
            try:
                self._database.executescript(f"BEGIN; {_SCHEMA}")
            except sqlite3.OperationalError as error:
                if _name(error) != "SQLITE_ERROR":
                    raise
                # The tables are there, and were not when we looked.
                raise JournalError(f"cannot begin the journal {self.path}: {_IN_USE}") from None
            self.set_meta({"settings": settings, **meta})
            self._database.execute("COMMIT")

        self._write(lay_out)
        # Not before: it writes to the file, which is then neither empty nor a journal.
        self.prepare_writing()

    def prepare_writing(self) -> None:
        """Have games committed to a write-ahead log, which is fast."""
        for setting in ("journal_mode = WAL", "synchronous = NORMAL"):
            self._write(partial(self._database.execute, f"PRAGMA {setting}"))

    def fold(self) -> None:
        """Fold the write-ahead log into the file, so that it can be read where nobody may write.

        `JournalError` where there is no room for it or somebody else has the journal open: then
        the log stays beside the file, and all is still there.
        """
        self._database.execute("PRAGMA busy_timeout = 0")
        self._write(lambda: self._database.execute("PRAGMA journal_mode = DELETE"))

    def check(self) -> None:
        """Raise an `InputError` unless this is a whole journal that this version can read.

        The file may come from anybody. Nothing that it brings along is run, and what is read of
        it later has the types and the size that a journal's fields have.
        """
        try:
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_FIELD)
            self._database.execute("PRAGMA trusted_schema = OFF")
            self._database.execute("PRAGMA cell_size_check = ON")
            marks = [
                self._database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version")
            ]
            if marks[0] != APPLICATION_ID:
                raise file_error(self.path or "", "this file is not a merels journal")
            if marks[1] != SCHEMA_VERSION:
                raise file_error(
                    self.path or "",
                    f"this journal has format {marks[1]}, this program reads {SCHEMA_VERSION}",
                )
            self._check_schema()
            found = self._database.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise self._damaged(found)
            self._check_types()
            meta = self.meta()
            check_notes(meta)
            self._check_names(engine_names(meta["settings"]))
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from None
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise self._damaged(str(error)) from None

    def _damaged(self, what: str) -> InputError:
        return file_error(self.path or "", f"this journal is damaged: {printable(what)}")

    def _unreadable(self, error: sqlite3.DatabaseError) -> InputError:
        """Why the file cannot be read, as SQLite says."""
        path = self.path or ""
        if _is_busy(error):
            return file_error(path, f"cannot read this journal: {_IN_USE}")
        if _name(error) in _NEEDS_ITS_LOG:
            return file_error(
                path,
                "a run has not closed this journal: move it, with the file ending in -wal"
                " beside it if there is one, to a folder where you may write",
            )
        if _name(error).startswith("SQLITE_IOERR"):
            return file_error(path, f"cannot read this journal: {error}")
        return file_error(path, f"this is not a whole journal: {error}")

    def _check_schema(self) -> None:
        """Refuse triggers, views and virtual tables, which are programs, and other columns."""
        schema = self._database.execute("SELECT type, name, rootpage FROM sqlite_master")
        for kind, name, page in schema.fetchall():
            if kind != "table" or name not in _TABLES or not page:
                raise self._damaged(f"it holds a {kind} '{name}', which no journal has")
        for name, columns in _TABLES.items():
            found = self._database.execute(f"PRAGMA table_xinfo({name})").fetchall()
            computed = any(hidden for *_, hidden in found)
            if computed or [column for _, column, *_ in found] != list(columns):
                raise self._damaged(f"its table '{name}' has other columns than a journal's")

    def _check_types(self) -> None:
        """See that every value is of its column's type: SQLite itself puts up with any."""
        for name, columns in _TABLES.items():
            wrong = " OR ".join(
                f"typeof({column}) <> '{_TYPES[kind]}'" for column, kind in columns.items()
            )
            if self._database.execute(f"SELECT 1 FROM {name} WHERE {wrong} LIMIT 1").fetchone():
                raise self._damaged(f"a value in its table '{name}' is of another type")
        for condition, what in (
            ("result NOT IN ('1-0', '0-1', '1/2-1/2', '*')", "has a result that is none"),
            ("number < 1", "has a number below 1"),
            ("white = black", "is of an engine against itself"),
        ):
            odd = self._database.execute(f"SELECT number FROM games WHERE {condition} LIMIT 1")
            for (number,) in odd:
                raise self._damaged(f"game {number} {what}")

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse games of engines other than these."""
        marks = ",".join("?" * len(names))
        query = f"SELECT number FROM games WHERE NOT (white IN ({marks}) AND black IN ({marks}))"
        for (number,) in self._database.execute(query, (*names, *names)):
            raise self._damaged(f"game {number} is of engines that this tournament has not")

    def protect(self) -> None:
        """Let nothing be written from now on."""
        self._database.execute("PRAGMA query_only = ON")

    def _read(self, query: str, *values: object) -> Iterator[Any]:
        """The rows of a query; an `InputError` where the file does not let itself be read."""
        try:
            yield from self._database.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from None

    def append(self, row: Row) -> None:
        """Commit one finished game."""
        marks = ",".join("?" * len(row))
        try:
            self._write(lambda: self._database.execute(f"INSERT INTO games VALUES ({marks})", row))
        except sqlite3.IntegrityError:
            raise JournalError(
                f"game {row.number} is already in {self.path}: another run is writing this journal"
            ) from None

    def rows(self) -> Iterator[Row]:
        """Every game in the order of their numbers."""
        names = ", ".join(Row._fields)
        for values in self._read(f"SELECT {names} FROM games ORDER BY number"):
            yield Row(*values)

    def row(self, number: int) -> Row:
        """The game of that number, which must be there."""
        names = ", ".join(Row._fields)
        query = f"SELECT {names} FROM games WHERE number = ?"
        return Row(*next(self._read(query, number)))

    def numbers(self) -> list[int]:
        """The numbers of the games played, rising."""
        return [n for (n,) in self._read("SELECT number FROM games ORDER BY number")]

    def endings(self) -> Iterator[Ending]:
        """How each game ended."""
        query = "SELECT white, black, result, termination FROM games ORDER BY number"
        for white, black, result, termination in self._read(query):
            yield Ending(white, black, SCORES.get(result), termination)

    def meta(self) -> dict[str, str]:
        """What is noted of the tournament: ``settings`` as JSON, ``id``, ``arguments`` …"""
        return dict(self._read("SELECT key, value FROM meta"))

    def set_meta(self, values: dict[str, str]) -> None:
        """Note something of the tournament."""
        self._write(
            lambda: self._database.executemany(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                values.items(),
            )
        )

    def close(self) -> None:
        """Close the file. What cannot be folded into it now stays in the log beside it."""
        self._database.close()

    def remove(self) -> None:
        """Close the file and remove it, with what stands beside it."""
        self.close()
        if self.path is not None:
            remove_files(self.path)

    def _write(self, action: Callable[[], object]) -> None:
        """Do something that writes; failure is a `JournalError` that says why and what to do."""
        try:
            action()
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            why = _IN_USE if _is_busy(error) else error
            raise JournalError(
                f"cannot write the journal {self.path or '(temporary file)'}: {why}"
            ) from error


def _name(error: sqlite3.DatabaseError) -> str:
    """SQLite's name of an error; one of Python's own part, such as text that is none, has none."""
    return getattr(error, "sqlite_errorname", "")


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def remove_files(path: str) -> None:
    """Remove what there is of a journal, with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path + ending)


def check_notes(meta: dict[str, str]) -> None:
    """Raise a `ValueError` unless what a journal notes of its tournament can be used."""
    try:
        check_settings(meta["settings"])
        arguments = json.loads(meta["arguments"])
    except KeyError as error:
        raise ValueError(f"it does not say its {error.args[0]}") from None
    except RecursionError:
        raise ValueError("its notes are nested too deeply") from None
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise ValueError("its command line is no list of words")
    if "id" not in meta:
        raise ValueError("it does not say its id")
    if meta.get("verdict", "H0") not in ("H0", "H1"):
        raise ValueError("its verdict is neither H0 nor H1")
    if "verdict" in meta and json.loads(meta["settings"]).get("sprt") is None:
        raise ValueError("it has a verdict, and no test that came to it")


def is_new(path: str) -> bool:
    """Whether a journal is yet to be laid out there; an `InputError` where there can be none."""
    if not os.path.exists(path):
        return True
    if not os.path.isfile(path):
        raise file_error(path, "expected a file for the journal; this is a folder or a device")
    return os.path.getsize(path) == 0


def open_journal(
    path: str | None, settings: Settings, resume: bool, meta: dict[str, str]
) -> Journal:
    """The journal of a tournament: a new one, or with ``resume`` one that was begun.

    An existing journal is never written over, and one of another tournament is refused.
    """
    if path is None or is_new(path):
        journal = connect(path)
        try:
            journal.create(settings.as_json(), meta)
        except BaseException:
            journal.close()
            raise
        return journal
    if not resume:
        raise file_error(path, "this file exists; add -resume to go on with it, or name another")
    journal = connect(path)
    try:
        journal.check()
        ours, theirs = settings.as_json(), journal.meta()["settings"]
        changed = differences(ours, theirs)
        if changed:
            what = "; ".join(changed)
            raise file_error(path, f"this is the journal of another tournament; {what}")
        journal.prepare_writing()
        if ours != theirs:
            # The command line goes with the settings that it asks for, and goes first: killed
            # in between, it may ask for more rounds than there are, but never for fewer.
            journal.set_meta({"arguments": meta["arguments"], "settings": ours})
    except BaseException:
        journal.close()
        raise
    return journal


def connect(path: str | None) -> Journal:
    """The journal at a path, unchecked."""
    try:
        return Journal(path)
    except sqlite3.Error as error:
        raise file_error(path or "", f"cannot open this journal: {error}") from None


def read_journal(path: str) -> Journal:
    """An existing journal, checked, to read from."""
    if not os.path.isfile(path):
        raise file_error(path, "cannot read this journal: no such file")
    journal = connect(path)
    try:
        journal.check()
        journal.protect()
    except BaseException:
        journal.close()
        raise
    return journal


def stored(path: str) -> tuple[int, list[str]] | None:
    """The seed and the command line of a journal's tournament; None where there is none yet."""
    if is_new(path):
        return None
    with read_journal(path) as journal:
        meta = journal.meta()
    return json.loads(meta["settings"])["seed"], json.loads(meta["arguments"])
