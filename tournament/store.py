"""The journal: a SQLite file with one row a finished game, from which all else is derived.

Each game is committed at once. The journal is kept in WAL mode with ``synchronous=NORMAL``: what
is committed outlives any crash of the program (``kill -9`` included), for it is in the system's
hands; only a loss of power may take the games of the last moments with it, and never damages the
file. ``FULL`` would add a disk flush a game, which the fastest tournaments cannot afford.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import NamedTuple

from merels.engine.errors import printable
from merels.tournament.files import file_error
from merels.tournament.settings import Settings, differences
from merels.tournament.spec import GameResult, TurnRecord
from merels.tournament.terminations import Ending

APPLICATION_ID = 0x6D65_7265
"""'mere' in the file's header marks it as ours."""
SCHEMA_VERSION = 1
BUSY_SECONDS = 10.0

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
    position TEXT NOT NULL,       -- of the opening, before its turns
    opening TEXT NOT NULL,        -- turns of the opening, parted by blanks
    opening_name TEXT NOT NULL,
    result TEXT NOT NULL,
    termination TEXT NOT NULL,
    reason TEXT NOT NULL,
    moves TEXT NOT NULL,          -- turns played, parted by blanks
    scores TEXT NOT NULL,         -- one word a turn: 79 (centi-men), #5, #-4 (plies), or -
    depths TEXT NOT NULL,
    nodes TEXT NOT NULL,
    times TEXT NOT NULL,          -- nanoseconds spent on each turn
    clocks TEXT NOT NULL,         -- nanoseconds left after each turn, or -
    started TEXT NOT NULL,        -- UTC, ISO 8601
    elapsed INTEGER NOT NULL      -- nanoseconds
);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""


class JournalError(Exception):
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

    def turns(self) -> list[TurnRecord]:
        """The turns with what was recorded of each."""
        columns = (self.moves, self.scores, self.depths, self.nodes, self.times, self.clocks)
        return [
            TurnRecord(
                turn, *_parse_score(score), int(depth), int(nodes), int(time),
                None if clock == "-" else int(clock),
            )
            for turn, score, depth, nodes, time, clock in zip(*(c.split() for c in columns))
        ]


def make_row(result: GameResult) -> Row:
    """The row of a finished game."""
    spec, turns = result.spec, result.turns
    return Row(
        spec.number, spec.round, spec.pair, spec.white.name, spec.black.name,
        spec.opening.position, " ".join(spec.opening.turns), spec.opening.name,
        result.result, result.termination, printable(result.reason),
        " ".join(t.turn for t in turns),
        " ".join(map(_score_word, turns)),
        " ".join(str(t.depth) for t in turns),
        " ".join(str(t.nodes) for t in turns),
        " ".join(str(t.elapsed) for t in turns),
        " ".join("-" if t.clock is None else str(t.clock) for t in turns),
        result.started, result.elapsed,
    )


def _score_word(turn: TurnRecord) -> str:
    """An engine's score as one word."""
    if turn.win_in is not None:
        return f"#{turn.win_in}"
    return "-" if turn.score is None else str(turn.score)


def _parse_score(word: str) -> tuple[int | None, int | None]:
    """The centi-men and the plies to the end that such a word stands for."""
    if word.startswith("#"):
        return None, int(word[1:])
    return (None if word == "-" else int(word)), None


class Journal:
    """An open journal; a context manager. ``path`` None keeps it in a temporary file."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._database = sqlite3.connect(path or "", isolation_level=None, timeout=BUSY_SECONDS)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def create(self, settings: str, meta: dict[str, str]) -> None:
        """Lay out an empty journal in one transaction: after a crash it is there or it is not."""
        self._write(lambda: self._database.execute("PRAGMA journal_mode = WAL"))
        self._write(lambda: self._database.executescript(f"BEGIN; {_SCHEMA} COMMIT;"))
        self._tune()
        self.set_meta({"settings": settings, **meta})

    def check(self) -> None:
        """Raise an `InputError` unless this is a whole journal that this version can read."""
        try:
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
            found = self._database.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise file_error(self.path or "", f"this journal is damaged: {found}")
            self._tune()
        except sqlite3.DatabaseError as error:
            raise file_error(self.path or "", f"this is not a whole journal: {error}") from None

    def _tune(self) -> None:
        self._database.execute("PRAGMA synchronous = NORMAL")

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
        for values in self._database.execute(f"SELECT {names} FROM games ORDER BY number"):
            yield Row(*values)

    def row(self, number: int) -> Row:
        """The game of that number, which must be there."""
        names = ", ".join(Row._fields)
        query = f"SELECT {names} FROM games WHERE number = ?"
        return Row(*self._database.execute(query, (number,)).fetchone())

    def __contains__(self, number: int) -> bool:
        query = "SELECT 1 FROM games WHERE number = ?"
        return self._database.execute(query, (number,)).fetchone() is not None

    def numbers(self) -> list[int]:
        """The numbers of the games played, rising."""
        return [n for (n,) in self._database.execute("SELECT number FROM games ORDER BY number")]

    def endings(self) -> Iterator[Ending]:
        """How each game ended."""
        query = "SELECT white, black, result, termination FROM games ORDER BY number"
        for white, black, result, termination in self._database.execute(query):
            yield Ending(white, black, SCORES.get(result), termination)

    def meta(self) -> dict[str, str]:
        """What is noted of the tournament: ``settings`` as JSON, ``id``, ``arguments`` …"""
        return dict(self._database.execute("SELECT key, value FROM meta"))

    def set_meta(self, values: dict[str, str]) -> None:
        """Note something of the tournament."""
        self._write(
            lambda: self._database.executemany(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                values.items(),
            )
        )

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._database.close()

    def _write(self, action: Callable[[], object]) -> None:
        """Do something that writes; failure is a `JournalError` that says why and what to do."""
        try:
            action()
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            raise JournalError(
                f"cannot write the journal {self.path or '(temporary file)'}: {error}"
            ) from error


def open_journal(
    path: str | None, settings: Settings, resume: bool, meta: dict[str, str]
) -> Journal:
    """The journal of a tournament: a new one, or with ``resume`` one that was begun.

    An existing journal is never written over, and one of another tournament is refused.
    """
    if path is None or not os.path.exists(path) or os.path.getsize(path) == 0:
        journal = connect(path)
        journal.create(settings.as_json(), meta)
        return journal
    if not resume:
        raise file_error(path, "this file exists; add -resume to go on with it, or name another")
    journal = connect(path)
    try:
        journal.check()
        changed = differences(settings.as_json(), journal.meta()["settings"])
        if changed:
            what = "; ".join(changed)
            raise file_error(path, f"this is the journal of another tournament; {what}")
        journal.set_meta({"settings": settings.as_json()})
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
    except BaseException:
        journal.close()
        raise
    return journal


def stored_seed(path: str) -> int | None:
    """The seed of the tournament in a journal, or None where there is no journal yet."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return None
    with read_journal(path) as journal:
        return int(json.loads(journal.meta()["settings"])["seed"])


def stored_arguments(path: str) -> list[str]:
    """The command line that a journal was begun with; empty where there is no journal yet."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return []
    with read_journal(path) as journal:
        return list(json.loads(journal.meta()["arguments"]))
