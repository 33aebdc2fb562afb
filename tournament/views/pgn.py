"""Finished games as PGN, and the view that appends them to a file."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Protocol

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import parse_whole
from merels.engine.game.notation import parse_move
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.games.writer import comment_text, format_plain_record
from merels.protocol.games.record import Record
from merels.tournament.journal.players import settings_words
from merels.tournament.journal.rows import Row, read_start, record_of, score_word
from merels.tournament.journal.standings import Standings
from merels.tournament.records.as_flags import typed
from merels.tournament.records.games import SECOND, MoveRecord, control_text
from merels.tournament.records.output import (
    CAUSE_TAG,
    ENGINE_TAGS,
    ID_TAG,
    PAIR_TAG,
    SETTINGS_TAGS,
    PgnStyle,
)
from merels.tournament.records.settings import UNKNOWN_COMMAND, Settings
from merels.tournament.run.scoreboard import Scoreboard, View


@lru_cache(maxsize=8192)
def _canonical(move: str) -> str:
    """Return a move as merels spells it; cached, because moves recur."""
    return str(parse_move(move))


class GameWriter:
    """Formats the games of one tournament as PGN."""

    def __init__(self, settings: Settings, tournament: str, style: PgnStyle = PgnStyle()) -> None:
        self._event = settings.event
        self._rules: Rules = parse_rules(settings.rules)
        self._controls = {e.name: control_text(e.limit) for e in settings.engines}
        self._engines = {
            e.name: typed(settings_words(e)) for e in settings.engines
            if e.engine.command != UNKNOWN_COMMAND
        }
        self._tournament = tournament
        self._style = style

    def identity(self, number: int) -> str:
        """Return the value of `ID_TAG` for a game's number, of `PAIR_TAG` for a pair's."""
        return f"{self._tournament}-{number}"

    def text(self, row: Row) -> str:
        """Return the game as PGN, followed by an empty line."""
        # From texts, because building a `Record` would take several times as long.
        before, *comments = self._comments(row)
        unsafe = len(comments) if self._style.pv else 1
        """Number of last comments with text from elsewhere: variations, and the reason."""
        comments[-unsafe:] = map(comment_text, comments[-unsafe:])
        try:
            start = read_start(row.position, self._rules)
            moves = [_canonical(move) for move in (*row.opening.split(), *row.moves.split())]
        except InputError as error:
            raise _unreadable(row, error) from None
        return format_plain_record(
            self._tags(row, len(moves)), start, zip(moves, comments), comment_text(before),
            row.result,
        )

    def record(self, row: Row) -> Record:
        """Return the game as a `Record`, whose moves may be illegal; InputError if unreadable."""
        try:
            record = record_of(row, self._rules)
        except InputError as error:
            raise _unreadable(row, error) from None
        line = record.mainline()
        for node, comment in zip((record.root, *line), self._comments(row)):
            node.comment = comment
        record.tags = self._tags(row, len(line))
        return record

    def _comments(self, row: Row) -> list[str]:
        """Return the comments before the first move and on each move; the last is the reason."""
        comments = ["" for _ in ("start", *row.opening.split())]
        if self._style == PgnStyle():
            comments += _usual_comments(row)
        elif self._style.minimal:
            comments += ["" for _ in row.moves.split()]
        else:
            comments += map(self._comment, row.played())
        comments[-1] = ", ".join(filter(None, (comments[-1], row.reason)))
        return comments

    def _tags(self, row: Row, plies: int) -> dict[str, str]:
        white, black = (self._controls.get(name, "?") for name in (row.white, row.black))
        tags = {
            "Event": self._event,
            "Site": "?",
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
            values = {engine_tag: version, settings_tag: self._engines.get(name, "")}
            tags |= {tag: value for tag, value in values.items() if value}
        if row.started:  # An imported game may have no time.
            seconds = row.elapsed // SECOND
            tags["GameDuration"] = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            tags["GameStartTime"] = row.started
            tags["GameEndTime"] = _later(row.started, row.elapsed)
        return tags

    def _comment(self, move: MoveRecord) -> str:
        """Return the comment of a style with more parts, such as ``+0.79/6 0.001s, n=1234``."""
        if not move.elapsed:  # Imported moves have no time.
            return ""
        text = f"{score_text(score_word(move), str(move.depth))}{move.elapsed / SECOND:.3f}s"
        style, info, parts = self._style, _figures(move.info), [text]
        if style.clock and move.clock is not None:
            parts.append(f"tl={move.clock / SECOND:.3f}s")
        if style.latency and (time := parse_whole(info.get("time", ""))) is not None:
            parts.append(f"latency={max(0, move.elapsed / SECOND - time / 1000):.3f}s")
        if style.nodes:
            parts.append(f"n={move.nodes}")
        for is_shown, key, name in (
            (style.seldepth, "sd", "seldepth"), (style.nps, "nps", "nps"),
            (style.hashfull, "hashfull", "hashfull"),
        ):
            if is_shown and info.get(name, "").isdecimal():
                parts.append(f"{key}={info[name]}")
        if style.pv and info.get("pv"):
            parts.append(f'pv="{info["pv"]}"')
        return ", ".join(parts)


def _unreadable(row: Row, error: InputError) -> InputError:
    place = f"game {row.number} of the journal"
    return InputError(error.token, f"{error.expected} ({place})")


def _figures(line: str) -> dict[str, str]:
    """Return the values of an ``info`` line by name; ``pv`` is the whole variation."""
    head, _, variation = f"{line} ".partition(" pv ")
    words = head.split()
    return dict(zip(words, words[1:])) | {"pv": " ".join(variation.split())}


def _usual_comments(row: Row) -> list[str]:
    """Return comments such as ``+0.79/6 0.001s``: score in men, depth, seconds.

    They are made from the row's columns, because building the moves would take longer.
    """
    try:
        return [
            f"{score_text(score, depth)}{time / SECOND:.3f}s" if time else ""
            for _, score, depth, time in zip(
                row.moves.split(), row.scores.split(), row.depths.split(),
                row.measures(row.times), strict=True,
            )
        ]
    except ValueError:
        raise row.damaged("its moves") from None


@lru_cache(maxsize=8192)
def score_text(score: str, depth: str) -> str:
    """Return score and depth, such as ``+0.79/6 `` or ``+M3/9 `` (a win in 3 of its own moves).

    ``score`` is a word of `Row.scores`. The text ends in a space; it is empty without a score.
    Raises ValueError for words that are no numbers.
    """
    plies = int(depth)
    if score == "-":
        return ""
    if score[0] == "#":
        win_in = int(score[1:])
        return f"{'+' if win_in > 0 else '-'}M{(abs(win_in) + 1) // 2}/{plies} "
    return f"{int(score) / 100:+.2f}/{plies} "


def _later(started: str, elapsed: int) -> str:
    """Return the ISO 8601 time ``elapsed`` nanoseconds after ``started``; ``?`` if impossible."""
    try:
        end = datetime.fromisoformat(started) + timedelta(microseconds=elapsed / 1000)
    except (ValueError, OverflowError):
        return "?"
    return end.isoformat(timespec="milliseconds")


class GameOutput(Protocol):
    """A file to which games are appended."""

    path: str

    @property
    def numbers(self) -> Collection[int]:
        """Numbers of the tournament's games that the file already holds."""

    def add(self, text: str) -> None:
        """Append a game; raise `OSError` if that fails."""

    def close(self) -> None:
        """Close the file."""


class PgnView(View):
    """Appends games to a file; after an error, it shows a notice and stops writing.

    The games of earlier runs that the file lacks are read from the journal and appended, too, each
    before the first new game with a greater number.
    """

    def __init__(self, file: GameOutput, writer: GameWriter) -> None:
        self._file: GameOutput | None = file
        self._writer = writer
        self._board: Scoreboard
        self._missing = deque[int]()
        """Numbers of the games of earlier runs that are still to be appended."""

    def attach(self, board: Scoreboard) -> None:
        assert self._file is not None
        self._board = board
        self._missing += sorted(board.played.difference(self._file.numbers))

    def close(self) -> None:
        try:
            if self._file is not None:
                self._add_missing()
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        self._add_missing(row.number)
        self._add(row)

    def _add_missing(self, end: float = math.inf) -> None:
        """Append the missing games with numbers below ``end``."""
        while self._missing and self._missing[0] < end:
            self._add(self._board.journal.row(self._missing.popleft()))

    def _add(self, row: Row) -> None:
        if self._file is None:
            return
        try:
            self._file.add(self._writer.text(row))
        except OSError as error:
            path = self._file.path
            self.incomplete = True
            self._missing.clear()
            self.close()
            is_stored = self._board.journal.path is not None
            advice = " (-resume adds the missing games)" if is_stored else ""
            self._board.notice(
                f"cannot write {path}: {error.strerror or error}; going on without it "
                f"from game {row.number} on{advice}"
            )
