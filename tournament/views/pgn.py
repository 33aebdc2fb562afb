"""Finished games as PGN: a view of the journal, written in the order of the games' numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import parse_whole
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.formats.pgn.writer import format_record
from merels.protocol.games.record import Record
from merels.tournament.journal.players import UNKNOWN_COMMAND, settings_words
from merels.tournament.journal.rows import Row, Standings, record_of
from merels.tournament.records.as_flags import typed
from merels.tournament.records.games import NANOSECONDS, MoveRecord, control_text
from merels.tournament.records.output import (
    CAUSE_TAG,
    ENGINE_TAGS,
    ID_TAG,
    PAIR_TAG,
    SETTINGS_TAGS,
    PgnStyle,
)
from merels.tournament.records.settings import Settings
from merels.tournament.run.view import View


class GameWriter:
    """Turns the rows of one tournament into PGN text."""

    def __init__(self, settings: Settings, tournament: str, style: PgnStyle = PgnStyle()) -> None:
        self._event, self._site = settings.event, settings.site
        self._rules: Rules = parse_rules(settings.rules)
        self._controls = {e.name: control_text(e.limit) for e in settings.engines}
        self._engines = {
            e.name: typed(settings_words(e)) for e in settings.engines
            if e.engine.command != UNKNOWN_COMMAND
        }
        self._tournament = tournament
        self._style = style

    @property
    def head(self) -> str:
        """The text that all games of the tournament begin with."""
        text = format_record(Record(tags={"Event": self._event, "Site": self._site}))
        return text[: text.index('[Date "')]

    def identity(self, number: int) -> str:
        """The tag value that identifies a game or a pair of this tournament."""
        return f"{self._tournament}-{number}"

    def text(self, row: Row) -> str:
        """The game's record as text, ending in an empty line."""
        return format_record(self.record(row))

    def record(self, row: Row) -> Record:
        """The game as a record; the moves are not looked at."""
        played = row.played()
        try:
            record = record_of(row, self._rules)
        except InputError as error:
            place = f"game {row.number} of the journal"
            raise InputError(error.token, f"{error.expected} ({place})") from None
        line = record.line()
        for node, move in zip(reversed(line), reversed(played)):
            node.comment = ", ".join(filter(None, (self._comment(move), node.comment)))
        record.tags = self._tags(row, len(line))
        return record

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
        if row.cause:
            tags[CAUSE_TAG] = row.cause
        if row.opening_name:
            tags["Opening"] = row.opening_name
        if white == black:
            tags["TimeControl"] = white
        else:
            tags |= {"WhiteTimeControl": white, "BlackTimeControl": black}
        sides = ((row.white, row.white_id), (row.black, row.black_id))
        for (name, version), engine_tag, settings_tag in zip(sides, ENGINE_TAGS, SETTINGS_TAGS):
            known = {engine_tag: version, settings_tag: self._engines.get(name, "")}
            tags |= {tag: value for tag, value in known.items() if value}
        if row.started:  # A game from elsewhere may not say when it was.
            seconds = row.elapsed // NANOSECONDS
            tags["GameDuration"] = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            tags["GameStartTime"] = row.started
            tags["GameEndTime"] = _later(row.started, row.elapsed)
        return tags

    def _comment(self, move: MoveRecord) -> str:
        """``+0.79/6 0.001s``: score in men, depth, seconds; ``+W5``-like for a proven end."""
        if self._style.minimal or not move.elapsed:  # A game from elsewhere was not timed.
            return ""
        style, info = self._style, _figures(move.info)
        parts = [f"{score_text(move)}{move.elapsed / NANOSECONDS:.3f}s"]
        if style.clock and move.clock is not None:
            parts.append(f"tl={move.clock / NANOSECONDS:.3f}s")
        if style.latency and (time := parse_whole(info.get("time", ""))) is not None:
            parts.append(f"latency={max(0, move.elapsed / NANOSECONDS - time / 1000):.3f}s")
        if style.nodes:
            parts.append(f"n={move.nodes}")
        for wanted, key, name in (
            (style.seldepth, "sd", "seldepth"), (style.nps, "nps", "nps"),
            (style.hashfull, "hashfull", "hashfull"),
        ):
            if wanted and info.get(name, "").isdecimal():
                parts.append(f"{key}={info[name]}")
        if style.pv and info.get("pv"):
            parts.append(f'pv="{info["pv"]}"')
        return ", ".join(parts)


def _figures(line: str) -> dict[str, str]:
    """The figures of a line of ``info`` by their names, and ``pv``, all the words behind it."""
    head, _, variation = f"{line} ".partition(" pv ")
    words = head.split()
    return dict(zip(words, words[1:])) | {"pv": " ".join(variation.split())}


def score_text(move: MoveRecord) -> str:
    """``+0.79/6 `` or ``+M3/9 `` (own moves to a win), with its space; empty without a score."""
    if move.win_in is not None:
        sign = "+" if move.win_in > 0 else "-"
        return f"{sign}M{(abs(move.win_in) + 1) // 2}/{move.depth} "
    if move.score is None:
        return ""
    return f"{move.score / 100:+.2f}/{move.depth} "


def _later(started: str, elapsed: int) -> str:
    """An ISO 8601 time, ``elapsed`` nanoseconds later; ``?`` if there is none."""
    try:
        end = datetime.fromisoformat(started) + timedelta(microseconds=elapsed / 1000)
    except (ValueError, OverflowError):
        return "?"
    return end.isoformat(timespec="milliseconds")


class GameOutput(Protocol):
    """A file that games are added to, each under its number."""

    path: str

    def add(self, number: int, text: str) -> None:
        """Add a game; OSError where that fails."""

    def close(self) -> None:
        """Close the file."""


class PgnView(View):
    """Adds each game to a PGN file; if that fails, a notice reports it and the run goes on.

    ``journaled``: whether there is a journal from which the file can be completed.
    """

    def __init__(
        self,
        file: GameOutput,
        writer: GameWriter,
        notice: Callable[[str], None],
        journaled: bool = False,
    ) -> None:
        self._file: GameOutput | None = file
        self._writer = writer
        self._notice = notice
        self._way_out = " (-resume writes what is missing)" if journaled else ""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def finished(self, row: Row, standings: Standings) -> None:
        if self._file is None:
            return
        try:
            self._file.add(row.number, self._writer.text(row))
        except OSError as error:
            path = self._file.path
            self.incomplete = True
            self.close()
            self._notice(
                f"cannot write {path}: {error.strerror or error}; going on without it "
                f"from game {row.number} on{self._way_out}"
            )
