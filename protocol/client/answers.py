"""What an engine says in a search: its answer, found among its lines, and what those say."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.numbers import parse_whole
from merels.engine.game.position import Move, Position
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info
from merels.protocol.client.scanner import last_answer, last_score, parse_brief

ERROR = "sanmill_error"
"""The word that begins an answer of Sanmill's instead of a move, with a JSON object behind it."""
NO_MOVES = ("0000", "(none)", "none", "null", "draw")
"""What engines write instead of a move."""

_LONGEST_NUMBER = 18
_COUNTS = ("depth", "seldepth", "multipv", "nodes", "nps", "time", "hashfull", "tbhits")
_BOUNDS = {b"lowerbound": "lower", b"upperbound": "upper"}
_AT_START = re.compile(rb"^[ \t\r]*bestmove(?![^\s])([^\n]*)\n", re.IGNORECASE | re.MULTILINE)
_ANYWHERE = re.compile(
    rb"(?<![^\s])(?:bestmove(?![^\s])|(?=sanmill_error(?![^\s])))([^\n]*)\n", re.IGNORECASE
)


@dataclass(slots=True)
class Answer:
    """An engine's answer to ``go``."""

    text: bytes
    """What followed ``bestmove``."""
    info: bytes
    """The last line with a score before it, or nothing."""
    elapsed: int
    """Nanoseconds from sending ``go`` to reading the answer."""


Search = Callable[[bytes, int], Answer | None]
"""Sends lines that end in a ``go`` and waits for the answer, at most that many nanoseconds."""


class AnswerFinder:
    """Finds ``bestmove`` in whole lines: at their start, or with ``inside`` anywhere.

    With ``inside`` an `ERROR` is an answer as well, and is part of its text.

    ``info`` is the last line with a score so far. Lines behind a ``bestmove`` are put back.
    """

    def __init__(self, inside: bool, put_back: Callable[[bytes], None]) -> None:
        self.info = b""
        self._inside = inside
        self._put_back = put_back
        self._pattern = _ANYWHERE if inside else _AT_START

    def find(self, lines: bytes) -> bytes | None:
        """What follows the first ``bestmove``, or None."""
        usual = last_answer(lines, self._inside)
        if usual is not None:
            answer, info = usual
            self.info = info or self.info
            return answer
        match = self._pattern.search(lines)
        if match is None:
            self.info = last_score(lines, len(lines)) or self.info
            return None
        end = match.end() if self._inside else match.start()
        self.info = last_score(lines, end) or self.info
        self._put_back(lines[match.end() :])
        return match[1].strip()

    def count(self, lines: bytes) -> int:
        """How many of the lines say ``bestmove``."""
        return len(self._pattern.findall(lines))


def ponder_text(answer: bytes) -> str:
    """The text of the expected reply, after ``ponder``, or nothing."""
    words = answer.decode("utf-8", "replace").split()
    lower = [word.lower() for word in words]
    return _first_move(words[lower.index("ponder") + 1 :]) if "ponder" in lower else ""


def _first_move(words: list[str]) -> str:
    """The first word, joined by the words of removals directly after it; nothing without words."""
    text = "".join(words[:1])
    for word in words[1:]:
        if word[:1] not in ("x", "X"):
            break
        text += word
    return text


@lru_cache(maxsize=1 << 14)
def read_move(answer: bytes) -> tuple[str, Move | None]:
    """The text of the move in an answer, and the move if the text is one, legal or not."""
    words = answer.decode("utf-8", "replace").split()
    if words[:1] == [ERROR]:
        return " ".join(words), None
    text = _first_move(words)
    try:
        return text, parse_move(text)
    except InputError:
        return text, None


def number(word: bytes) -> int | None:
    """A decimal number of an engine's, or None for anything else and for absurd lengths."""
    return parse_whole(word.decode("latin-1")) if len(word) <= _LONGEST_NUMBER else None


def parse_info(
    line: bytes, position: Position, white_view: bool = False, in_plies: bool = False
) -> Info:
    """Everything that an ``info`` line says about a search of ``position``."""
    words = line.split()
    values: dict[str, int] = {}
    pv: tuple[Move, ...] = ()
    wdl: tuple[int, int, int] | None = None
    bound = text = ""
    index = 1
    while index < len(words):
        word = words[index].lower()
        name = word.decode("ascii", "replace")
        index += 1
        if word == b"string":
            text = printable(b" ".join(words[index:]).decode("utf-8", "replace"))
            break
        if word == b"pv":
            pv = _legal_moves(position, words[index:])
        if word in (b"pv", b"bestmove"):
            break
        if word in _BOUNDS:
            bound = _BOUNDS[word]
        elif word == b"wdl":
            parts = [number(part) for part in words[index : index + 3]]
            if len(parts) == 3 and None not in parts:
                wdl = (parts[0] or 0, parts[1] or 0, parts[2] or 0)
        elif name in _COUNTS and index < len(words):
            value = number(words[index])
            if value is not None and value >= 0:
                values[name] = value
                index += 1
    brief = parse_brief(line, position.side, white_view, in_plies)
    score = None
    if brief.score is not None or brief.win_in is not None:
        score = PovScore(Score(brief.score, brief.win_in), position.side)
    milliseconds = values.pop("time", None)
    time = None if milliseconds is None else milliseconds / 1000
    return Info(score=score, bound=bound, time=time, wdl=wdl, pv=pv, string=text, **values)


def _legal_moves(position: Position, words: list[bytes]) -> tuple[Move, ...]:
    """The moves of a variation up to the first illegal one."""
    moves = []
    with suppress(InputError):
        for _, token in join_steps([word.decode("ascii", "replace") for word in words]):
            move = parse_move(token)
            position = position.push(move)
            moves.append(move)
    return tuple(moves)
