"""Journaled games as rows of text and numbers, and the standings that follow from them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.rules import Rules
from merels.protocol.games.record import Record
from merels.tournament.records.games import GameResult, MoveRecord, Oddities, Overtime
from merels.tournament.statistics.counts import (
    Counts,
    GameScore,
    MatchCounter,
    MatchCounts,
    counts_between,
)
from merels.tournament.statistics.terminations import Ending

_move = lru_cache(maxsize=8192)(parse_move)
"""The same few hundred moves recur."""
SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""White's points by result; a game broken off (``*``) has none."""

PER_MOVE = (
    "moves", "scores", "depths", "nodes", "times", "clocks", "late", "waited", "infos"
)  # fmt: skip
"""Columns that have something for each move."""
LONGEST_NUMBER = 24
"""Characters of a number in a row, more than those of engines and of times have."""


class Row(NamedTuple):
    """One journaled game: its fields are the columns of the journal's table.

    The fields from ``moves`` to ``clocks`` have a word for each move played, separated by spaces.
    """

    number: int
    """Of the game in the tournament, from 1."""
    round: int
    pair: int
    """The same for the games of one opening."""
    white: str
    black: str
    position: str
    """Of the opening, before its moves."""
    opening: str
    """The opening's moves, separated by spaces."""
    opening_name: str
    result: str
    termination: str
    reason: str
    moves: str
    scores: str
    """79 (centi-men), #5 or #-4 (plies to a win or a loss), or - if there is none."""
    depths: str
    nodes: str
    times: str
    """Nanoseconds spent on each move."""
    clocks: str
    """Nanoseconds left after each move, or -."""
    started: str
    """UTC, ISO 8601."""
    elapsed: int
    """Nanoseconds."""
    late: str = ""
    """Nanoseconds of each move that the runner was late to read it, or - where that was not
    measured; empty where it never was."""
    waited: str = ""
    """Nanoseconds of each move that the engine waited for a processor; like ``late``."""
    overtime: str = ""
    """Of the move that lost on time: nanoseconds spent, of overrun and of margin, then like those
    above, late and waited; empty without such a loss."""
    voided: str = ""
    """How earlier attempts at the game ended, which were void: a line for each."""
    host: str = ""
    """The machine of the worker; this and the fields below are empty where they are unknown."""
    version: str = ""
    """Of merels on the worker."""
    white_id: str = ""
    """The name and version that the engine announced."""
    black_id: str = ""
    white_program: str = ""
    """The fingerprint of the engine's program."""
    black_program: str = ""
    oddities: str = ""
    """White's and then Black's junk lines and late answers; empty without any."""
    infos: str = ""
    """The engine's last line of ``info`` for each move, a line each; empty if not recorded."""
    cause: str = ""
    """One of `CAUSES`; empty if unknown."""

    @property
    def ending(self) -> Ending:
        """How the game ended."""
        return Ending(self.white, self.black, self.white_score, self.termination, self.cause)

    @property
    def culprit(self) -> str:
        """The engine that lost by its own fault, which an excused loss on time is not; or ''."""
        lost = self.lost_move()
        return "" if lost is not None and lost.excused else self.ending.culprit

    def both_oddities(self) -> tuple[Oddities, Oddities]:
        """White's and Black's; `InputError` where those are no numbers."""
        if not self.oddities:
            return Oddities(), Oddities()
        try:
            white_junk, white_late, black_junk, black_late = map(int, _words(self.oddities))
        except ValueError:
            raise self.damaged("its junk lines and late answers") from None
        return Oddities(white_junk, white_late), Oddities(black_junk, black_late)

    @property
    def attempts_voided(self) -> int:
        """How often the game was played before it was valid."""
        return len(self.voided.splitlines())

    @property
    def white_score(self) -> float | None:
        """White's points; None for a game that was broken off."""
        return SCORES.get(self.result)

    def played(self) -> list[MoveRecord]:
        """The moves with what was recorded of each; `InputError` where that is no number."""
        moves = self.moves.split()
        unmeasured = [None] * len(moves)
        infos = self.infos.split("\n") if self.infos else [""] * len(moves)
        try:
            return [
                MoveRecord(move, score, win_in, depth, nodes, time, clock, late, waited, info)
                for move, (score, win_in), depth, nodes, time, clock, late, waited, info in zip(
                    moves, map(_parse_score, _words(self.scores)), map(int, _words(self.depths)),
                    map(int, _words(self.nodes)), map(int, _words(self.times)),
                    map(_measure, _words(self.clocks)),
                    map(_measure, _words(self.late)) if self.late else unmeasured,
                    map(_measure, _words(self.waited)) if self.waited else unmeasured, infos,
                    strict=True,
                )
            ]
        except ValueError:
            raise self.damaged("its moves") from None

    def numbers(self, column: str) -> list[int | None]:
        """The numbers of a column, move by move, None for ``-``; `InputError` as above."""
        try:
            return [None if word == "-" else int(word) for word in column.split()]
        except ValueError:
            raise self.damaged("its moves") from None

    def measures(self, column: str) -> list[int]:
        """The numbers of a column that has no ``-``; `InputError` as above."""
        try:
            return list(map(int, column.split()))
        except ValueError:
            raise self.damaged("its moves") from None

    def lost_move(self) -> Overtime | None:
        """The move that lost on time, if one did; `InputError` where that is no number."""
        if not self.overtime:
            return None
        try:
            words = _words(self.overtime)
            elapsed, overrun, margin, late, waited = words
            return Overtime(
                int(elapsed), int(overrun), int(margin), _measure(late), _measure(waited)
            )
        except ValueError:
            raise self.damaged("the move that lost on time") from None

    def damaged(self, what: str) -> InputError:
        """The error of a row whose numbers are none."""
        return InputError(
            f"game {self.number}", f"expected numbers for {what}; the journal is damaged"
        )


class Standings:
    """The results so far; every figure follows from the rows that were added."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.finished = 0
        """How many games there were; those without a result count nowhere else."""
        self._counter = MatchCounter()
        self.matches: Counts = self._counter.counts
        """The counts of every match; empty until a game has a result."""

    def add(self, row: Row) -> None:
        """Count a finished game."""
        self.finished += 1
        if row.white_score is not None:
            self._counter.add(GameScore(row.white, row.black, row.white_score, row.pair))

    def counts(self, first: str, second: str) -> MatchCounts:
        """The counts of the games between two engines, seen from the first."""
        return counts_between(self.matches, first, second)

    def match(self, one: str, other: str) -> tuple[str, str]:
        """The two engines in the order in which they were entered."""
        return (one, other) if self.names.index(one) < self.names.index(other) else (other, one)


def record_of(row: Row, rules: Rules) -> Record:
    """Return a journaled game as a record: its start, moves and result, and the reason of its end.

    A stranger may have written the row: the moves are read, and not checked by the rules.
    """
    moves = map(_move, (*row.opening.split(), *row.moves.split()))
    record = Record(parse_position(row.position, rules), moves, row.result)
    record.end().comment = row.reason
    return record


def make_row(result: GameResult) -> Row:
    """The row of a finished game."""
    spec, moves, origin = result.spec, result.moves, result.origin
    measured = moves if any(move.late is not None for move in moves) else ()
    return Row(
        spec.number, spec.round, spec.pair, spec.white.name, spec.black.name,
        spec.opening.position, " ".join(spec.opening.moves), spec.opening.name,
        result.result, result.termination, printable(result.reason),
        " ".join(move.move for move in moves),
        " ".join(map(_score_word, moves)),
        " ".join(str(move.depth) for move in moves),
        " ".join(str(move.nodes) for move in moves),
        " ".join(str(move.elapsed) for move in moves),
        _measures(move.clock for move in moves),
        result.started, result.elapsed,
        _measures(move.late for move in measured), _measures(move.waited for move in measured),
        _measures(result.overtime or ()), "\n".join(map(printable, result.voided)),
        origin.host, origin.version, printable(origin.ids[0]), printable(origin.ids[1]),
        origin.programs[0], origin.programs[1],
        _measures(number for oddities in result.oddities for number in oddities)
        if any(map(any, result.oddities)) else "",
        "\n".join(move.info for move in moves) if spec.keep_info else "", result.cause,
    )


def _measures(numbers: Iterable[int | None]) -> str:
    """Numbers as words; ``-`` for those that are not known."""
    return " ".join("-" if number is None else str(number) for number in numbers)


def _measure(word: str) -> int | None:
    """The number of such a word."""
    return None if word == "-" else int(word)


def _score_word(move: MoveRecord) -> str:
    """An engine's score as one word."""
    if move.win_in is not None:
        return f"#{move.win_in}"
    return "-" if move.score is None else str(move.score)


def _parse_score(word: str) -> tuple[int | None, int | None]:
    """The centi-men and the plies to the end in such a word."""
    if word.startswith("#"):
        return None, int(word[1:])
    return _measure(word), None


def _words(column: str) -> list[str]:
    """The numbers of a column as words; ValueError where one is absurdly long."""
    words = column.split()
    if max(map(len, words), default=0) > LONGEST_NUMBER:
        raise ValueError(column)
    return words
