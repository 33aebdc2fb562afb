"""An engine's answer to ``go``, found among its lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move
from merels.protocol.client.scanner import count_junk, last_answer, last_score

ERROR = "sanmill_error"
"""The word that begins an answer of Sanmill's instead of a move, with a JSON object behind it."""
NO_MOVES = ("0000", "(none)", "none", "null", "draw")
"""Words that engines write instead of a move."""

_AT_START = re.compile(rb"^[ \t\r]*bestmove(?![^\s])([^\n]*)\n", re.IGNORECASE | re.MULTILINE)
_ANYWHERE = re.compile(
    rb"(?<![^\s])(?:bestmove(?![^\s])|(?=sanmill_error(?![^\s])))([^\n]*)\n", re.IGNORECASE
)


@dataclass(slots=True)
class Answer:
    """An engine's answer to ``go``."""

    text: bytes
    """The words after ``bestmove``."""
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
    ``junk`` counts the lines, of all that were seen, that are no part of the protocol.
    """

    def __init__(self, inside: bool, put_back: Callable[[bytes], None]) -> None:
        self.info = b""
        self.junk = 0
        self._inside = inside
        self._put_back = put_back
        self._pattern = _ANYWHERE if inside else _AT_START

    def find(self, lines: bytes) -> bytes | None:
        """Return the words after the first ``bestmove``, or None."""
        usual = last_answer(lines, self._inside)
        if usual is not None:
            answer, info = usual
            self.info = info or self.info
            self.junk += count_junk(lines)
            return answer
        match = self._pattern.search(lines)
        if match is None:
            self.info = last_score(lines, len(lines)) or self.info
            self.junk += count_junk(lines)
            return None
        end = match.end() if self._inside else match.start()
        self.info = last_score(lines, end) or self.info
        self.junk += count_junk(lines[: match.end()])
        self._put_back(lines[match.end() :])
        return match[1].strip()

    def count(self, lines: bytes) -> int:
        """How many of the lines say ``bestmove``."""
        self.junk += count_junk(lines)
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
