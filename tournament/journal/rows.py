"""Rows of a journal."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.rules import Rules
from merels.protocol.games.record import Record
from merels.tournament.records.games import GameResult, MoveRecord, Oddities, Overtime
from merels.tournament.statistics.terminations import Ending

_move = lru_cache(maxsize=8192)(parse_move)
"""Cached `parse_move`, because moves recur."""
read_start = lru_cache(maxsize=256)(parse_position)
"""Cached `parse_position`, because openings recur."""
SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""White's score by result; a game broken off (``*``) has none."""

PER_MOVE = (
    "moves", "scores", "depths", "nodes", "times", "clocks", "late", "waited", "infos"
)  # fmt: skip
"""Columns with a value for each move."""
MAX_DIGITS = 24
"""Largest number of characters of a number in the journal."""


class Row(NamedTuple):
    """One journaled game; its fields are the columns of the journal's table.

    The fields from ``moves`` to ``clocks`` have a word for each move after the opening.
    """

    number: int
    """Number of the game in the tournament, from 1."""
    round: int
    pair: int
    """Number of the pair, shared by the games of one opening."""
    white: str
    black: str
    position: str
    """Start position of the opening, before its moves."""
    opening: str
    """Moves of the opening, separated by spaces."""
    opening_name: str
    result: str
    termination: str
    reason: str
    moves: str
    scores: str
    """Scores: 79 (centi-men), #5 or #-4 (plies to a win or a loss), or - without a score."""
    depths: str
    nodes: str
    times: str
    """Time spent on each move, in nanoseconds."""
    clocks: str
    """Time left after each move, in nanoseconds; - without a clock."""
    started: str
    """Start of the game, ISO 8601 in UTC."""
    elapsed: int
    """Duration of the game, in nanoseconds."""
    late: str = ""
    """Delay of the runner in reading each move, in nanoseconds; - if not measured.

    Empty if no move was measured."""
    waited: str = ""
    """Engine's wait for a processor in each move; in the form of ``late``."""
    overtime: str = ""
    """Fields of `Overtime` of the move that lost on time, in nanoseconds; - if not measured.

    Empty without a loss on time."""
    voided: str = ""
    """Ends of attempts that earlier versions played again; always empty now."""
    host: str = ""
    """Machine of the worker; this field and those below are empty if unknown."""
    version: str = ""
    """Version of merels on the worker."""
    white_id: str = ""
    """Name and version that the engine announced."""
    black_id: str = ""
    white_program: str = ""
    """Fingerprint of the engine's program."""
    black_program: str = ""
    oddities: str = ""
    """Junk lines and late answers of White, then of Black; empty without any."""
    infos: str = ""
    """Last ``info`` line of each move, one per line; empty if not recorded."""
    cause: str = ""
    """One of `CAUSES`; empty if unknown."""

    @property
    def ending(self) -> Ending:
        return Ending(self.white, self.black, self.white_score, self.termination, self.cause)

    @property
    def culprit(self) -> str:
        """Engine that lost by its own fault, or ''; an excused loss on time is no fault."""
        lost = self.lost_move()
        return "" if lost is not None and lost.excused else self.ending.culprit

    def both_oddities(self) -> tuple[Oddities, Oddities]:
        """Return White's and Black's oddities; InputError for invalid numbers."""
        if not self.oddities:
            return Oddities(), Oddities()
        try:
            white_junk, white_late, black_junk, black_late = map(int, _words(self.oddities))
        except ValueError:
            raise self.damaged("its junk lines and late answers") from None
        return Oddities(white_junk, white_late), Oddities(black_junk, black_late)

    @property
    def white_score(self) -> float | None:
        """White's score; None for a game that was broken off."""
        return SCORES.get(self.result)

    def played(self) -> list[MoveRecord]:
        """Return the played moves; InputError for invalid numbers."""
        moves = self.moves.split()
        unmeasured = [None] * len(moves)
        try:
            scores = _words(self.scores)
            # Column by column, which is faster than move by move.
            columns = (
                moves,
                [None if word == "-" or word[0] == "#" else int(word) for word in scores],
                [int(word[1:]) if word[0] == "#" else None for word in scores],
                list(map(int, _words(self.depths))), list(map(int, _words(self.nodes))),
                list(map(int, _words(self.times))), _numbers(self.clocks),
                _numbers(self.late) if self.late else unmeasured,
                _numbers(self.waited) if self.waited else unmeasured,
                self.infos.split("\n") if self.infos else [""] * len(moves),
            )
            if any(len(column) != len(moves) for column in columns):
                raise ValueError("a column lacks a move")
        except ValueError:
            raise self.damaged("its moves") from None
        return list(map(MoveRecord, *columns))

    def numbers(self, column: str) -> list[int | None]:
        """Return the numbers of a column by move, None for ``-``; InputError for invalid ones."""
        try:
            return _numbers(column)
        except ValueError:
            raise self.damaged("its moves") from None

    def measures(self, column: str) -> list[int]:
        """Return the numbers of a column that holds no ``-``; InputError for invalid ones."""
        try:
            return list(map(int, column.split()))
        except ValueError:
            raise self.damaged("its moves") from None

    def lost_move(self) -> Overtime | None:
        """Return the move that lost on time, or None; InputError for invalid numbers."""
        if not self.overtime:
            return None
        try:
            elapsed, overrun, margin, late, waited = _words(self.overtime)
            return Overtime(
                int(elapsed), int(overrun), int(margin), _measure(late), _measure(waited)
            )
        except ValueError:
            raise self.damaged("the move that lost on time") from None

    def damaged(self, what: str) -> InputError:
        """Return the error for invalid numbers in the row."""
        return InputError(
            f"game {self.number}", f"expected numbers for {what}; the journal is damaged"
        )


def record_of(row: Row, rules: Rules) -> Record:
    """Return a journaled game as a record: start, moves, result and the reason of its end.

    The moves are only parsed; `check_record` checks them by the rules.
    """
    record = Record(read_start(row.position, rules), result=row.result)
    node = record.root
    for text in (*row.opening.split(), *row.moves.split()):
        node = record.append(node, _move(text))
    node.comment = row.reason
    return record


def make_row(result: GameResult) -> Row:
    """Return the row of a finished game."""
    spec, moves, origin = result.spec, result.moves, result.origin
    measured = moves if any(move.late is not None for move in moves) else ()
    return Row(
        spec.number, spec.round, spec.pair, spec.white.name, spec.black.name,
        spec.opening.position, " ".join(spec.opening.moves), spec.opening.name,
        result.result, result.termination, printable(result.reason),
        " ".join([move.move for move in moves]),
        " ".join(map(score_word, moves)),
        " ".join([str(move.depth) for move in moves]),
        " ".join([str(move.nodes) for move in moves]),
        " ".join([str(move.elapsed) for move in moves]),
        _measures([move.clock for move in moves]),
        result.started, result.elapsed,
        _measures([move.late for move in measured]),
        _measures([move.waited for move in measured]),
        _measures(result.overtime or ()), "",
        origin.host, origin.version, printable(origin.ids[0]), printable(origin.ids[1]),
        origin.programs[0], origin.programs[1],
        _measures(number for oddities in result.oddities for number in oddities)
        if any(map(any, result.oddities)) else "",
        "\n".join(move.info for move in moves) if spec.keep_info else "", result.cause,
    )


def _measures(numbers: Iterable[int | None]) -> str:
    """Return numbers as words; ``-`` for None."""
    return " ".join(["-" if number is None else str(number) for number in numbers])


def _measure(word: str) -> int | None:
    """Return the number of a word; None for ``-``."""
    return None if word == "-" else int(word)


def score_word(move: MoveRecord) -> str:
    """Return an engine's score as a word."""
    if move.win_in is not None:
        return f"#{move.win_in}"
    return "-" if move.score is None else str(move.score)


def _numbers(column: str) -> list[int | None]:
    """Return the numbers of a column's words; None for ``-``."""
    return [None if word == "-" else int(word) for word in _words(column)]


def _words(column: str) -> list[str]:
    """Return the words of a column; ValueError if a word is longer than `MAX_DIGITS`."""
    words = column.split()
    if max(map(len, words), default=0) > MAX_DIGITS:
        raise ValueError(column)
    return words
