"""Finished games as PGN: a view of the journal, written in the order of the games' numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from merels.engine.errors import InputError
from merels.engine.notation import parse_position, parse_turn
from merels.engine.record import Record, format_record
from merels.engine.rules import Rules, parse_rules
from merels.tournament.files import system_error
from merels.tournament.settings import Settings
from merels.tournament.spec import NANOSECONDS, TimeControl, TurnRecord
from merels.tournament.standings import Standings
from merels.tournament.store import Row
from merels.tournament.view import View

ID_TAG = "GameId"
"""The tag that names a game across runs: the tournament's id and the game's number."""
PAIR_TAG = "PairId"
"""The tag that the games of one opening share: the tournament's id and the pair's number."""


_turn = lru_cache(maxsize=8192)(parse_turn)
"""The same few hundred turns come again and again."""


@dataclass(frozen=True, slots=True)
class Style:
    """What goes into a turn's comment: nothing with ``minimal``, or nodes and clock as well."""

    minimal: bool = False
    nodes: bool = False
    clock: bool = False


class GameWriter:
    """Turns the rows of one tournament into PGN text."""

    def __init__(self, settings: Settings, tournament: str, style: Style = Style()) -> None:
        self._event, self._site = settings.event, settings.site
        self._rules: Rules = parse_rules(settings.rules)
        self._controls = {e.name: time_control_text(e.limit) for e in settings.engines}
        self._tournament = tournament
        self._style = style

    def identity(self, number: int) -> str:
        """The value of the tag that names a game, or a pair, of this tournament."""
        return f"{self._tournament}-{number}"

    def text(self, row: Row) -> str:
        """The game's record, ending in an empty line."""
        opening = row.opening.split()
        played = row.turns()
        try:
            record = Record(parse_position(row.position, self._rules), result=row.result)
            for text in (*opening, *(turn.turn for turn in played)):
                record.turns.append(_turn(text))
        except InputError as error:
            place = f"game {row.number} of the journal"
            raise InputError(error.token, f"{error.expected} ({place})") from None
        record.comments = [""] * len(opening) + [self._comment(turn) for turn in played]
        if record.turns:
            last = record.comments[-1]
            record.comments[-1] = f"{last}, {row.reason}" if last else row.reason
        else:
            record.opening_comment = row.reason
        record.tags = self._tags(row, len(record.turns))
        return format_record(record)

    def _tags(self, row: Row, plies: int) -> dict[str, str]:
        white, black = (self._controls.get(name, "?") for name in (row.white, row.black))
        tags = {
            "Event": self._event,
            "Site": self._site,
            "Date": row.started[:10].replace("-", ".") or "????.??.??",
            "Round": str(row.round),
            "White": row.white,
            "Black": row.black,
            ID_TAG: self.identity(row.number),
            PAIR_TAG: self.identity(row.pair),
            "Termination": row.termination,
            "PlyCount": str(plies),
        }
        if row.opening_name:
            tags["Opening"] = row.opening_name
        if white == black:
            tags["TimeControl"] = white
        else:
            tags |= {"WhiteTimeControl": white, "BlackTimeControl": black}
        seconds = row.elapsed // NANOSECONDS
        tags["GameDuration"] = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        tags["GameStartTime"] = row.started
        tags["GameEndTime"] = _later(row.started, row.elapsed)
        return tags

    def _comment(self, turn: TurnRecord) -> str:
        """``+0.79/6 0.001s``: score in men, depth, seconds; ``+W5``-like for a proven end."""
        if self._style.minimal:
            return ""
        words = [f"{score_text(turn)}{turn.elapsed / NANOSECONDS:.3f}s"]
        if self._style.nodes:
            words.append(f"n={turn.nodes}")
        if self._style.clock and turn.clock is not None:
            words.append(f"tl={turn.clock / NANOSECONDS:.3f}s")
        return ", ".join(words)


def score_text(turn: TurnRecord) -> str:
    """``+0.79/6 `` or ``+M3/9 `` (own turns to a win), with its blank; empty without a score."""
    if turn.win_in is not None:
        sign = "+" if turn.win_in > 0 else "-"
        return f"{sign}M{(abs(turn.win_in) + 1) // 2}/{turn.depth} "
    if turn.score is None:
        return ""
    return f"{turn.score / 100:+.2f}/{turn.depth} "


def time_control_text(limit: TimeControl) -> str:
    """A limit as PGN's TimeControl tag has it: ``40/60+0.6``, ``1/0.5`` a turn, ``-`` for none."""
    if limit.per_move is not None:
        return f"1/{_seconds(limit.per_move)}"
    if limit.time is None:
        return "-"
    text = _seconds(limit.time)
    if limit.moves is not None:
        text = f"{limit.moves}/{text}"
    return f"{text}+{_seconds(limit.increment)}" if limit.increment else text


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / NANOSECONDS:.9f}".rstrip("0").rstrip(".")


def _later(started: str, elapsed: int) -> str:
    """A time of day in ISO 8601, so many nanoseconds later."""
    try:
        end = datetime.fromisoformat(started) + timedelta(microseconds=elapsed / 1000)
    except (ValueError, OverflowError):
        return "?"
    return end.isoformat(timespec="seconds")


class PgnFile:
    """A PGN file that games are added to, each whole or not at all.

    The file may hold other games before. A resumed tournament finds out by the games' ids which
    of its own are in it already; the torn end that a crash may leave of one of them is cut off.
    """

    def __init__(self, path: str, tournament: str, append: bool = True) -> None:
        self.path = path
        self._tournament = tournament
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
            self._mend()
        except OSError as error:
            raise system_error(path, "write", error) from None

    def _mend(self) -> None:
        """Cut off a torn game of ours, and see that what is added begins after an empty line."""
        with open(self.path, "rb") as file:
            data = file.read()
        if not data or data.endswith(b"\n\n"):
            return
        last = max(data.rfind(b'\n[Event "') + 1, 0)
        if f'[{ID_TAG} "{self._tournament}-'.encode() in data[last:]:
            os.ftruncate(self._file, last)
        else:
            self._append(b"\n" if data.endswith(b"\n") else b"\n\n")

    def identities(self) -> set[str]:
        """The ids of the games in the file."""
        start = f'[{ID_TAG} "'
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return {line.split('"')[1] for line in file if line.startswith(start)}

    def add(self, text: str) -> None:
        """Append a game; OSError (the disk is full) leaves the file as it was before."""
        self._append(text.encode())

    def _append(self, data: bytes) -> None:
        before = os.fstat(self._file).st_size
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view):]
        except OSError:
            os.ftruncate(self._file, before)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class PgnView(View):
    """Adds each game to a PGN file as it is shown; says so and goes on without when that fails."""

    def __init__(self, file: PgnFile, writer: GameWriter, notice: Callable[[str], None]) -> None:
        self._file: PgnFile | None = file
        self._writer = writer
        self._notice = notice
        self._there = file.identities()

    def finished(self, row: Row, standings: Standings) -> None:
        """Write a game."""
        self._write(row)

    def found(self, row: Row, standings: Standings) -> None:
        """Write a game of an earlier run that is not in the file."""
        if self._writer.identity(row.number) not in self._there:
            self._write(row)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, row: Row) -> None:
        if self._file is None:
            return
        try:
            self._file.add(self._writer.text(row))
        except OSError as error:
            self._notice(
                f"cannot write {self._file.path}: {error.strerror or error}; going on without it "
                f"from game {row.number} on (-resume writes what is missing)"
            )
            self.close()
