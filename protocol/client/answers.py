"""Finding and reading an engine's answer to ``go`` in its output."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move
from merels.protocol.client.scanner import count_junk, last_answer, last_score

SANMILL_ERROR = "sanmill_error"
"""Word with which Sanmill reports a failed search instead of a move; a JSON object follows."""
NO_MOVES = ("0000", "(none)", "none", "null", "draw")
"""Words that engines send instead of a move if there is none."""

_AT_START = re.compile(rb"^[ \t\r]*bestmove(?![^\s])([^\n]*)\n", re.IGNORECASE | re.MULTILINE)
_INSIDE = re.compile(
    rb"^[ \t\r]*(?:info[ \t](?:[^\n]*?[ \t])?)?"
    rb"(?:bestmove(?![^\s])|(?=sanmill_error(?![^\s])))([^\n]*)\n", re.IGNORECASE | re.MULTILINE
)
"""Only an info line counts: Sanmill also prints lines such as ``IDS: Algorithm bestMove = d6``."""
_ERROR = b"info string error"
"""Start of the lines with which an engine refuses a command."""


@dataclass(slots=True)
class Answer:
    """An engine's answer to ``go``."""

    text: bytes
    """The words after ``bestmove``, or an error that begins with the word `SANMILL_ERROR`."""
    info: bytes
    """The last line before ``bestmove`` with a score of the best variation, or b''."""
    elapsed: int
    """Nanoseconds from sending ``go`` to receiving the answer."""


RunSearch = Callable[[bytes, int], Answer | None]
"""Sends a request that ends in ``go``; returns the answer, or None at a timeout in nanoseconds."""


class AnswerFinder:
    """Finds ``bestmove`` in an engine's lines: at the start of a line.

    With ``inside``, it may also be in an info line, and `SANMILL_ERROR` and the words after it
    are an answer, too. Lines after an answer are passed to ``put_back``.

    ``info`` is the last line so far with a score of the best variation, ``error`` the last one with
    an error before the latest ``lines``. ``junk`` counts the lines so far that are not part of the
    protocol.
    """

    def __init__(self, inside: bool, put_back: Callable[[bytes], None]) -> None:
        self.info = self.error = b""
        self.junk = 0
        self._lines = b""
        """The latest lines."""
        self._inside = inside
        self._put_back = put_back
        self._pattern = _INSIDE if inside else _AT_START

    def find(self, lines: bytes) -> bytes | None:
        """Return the text of the first answer in ``lines``, or None if there is no answer."""
        self._lines = lines
        regular = last_answer(lines, self._inside)
        if regular is not None:
            answer, info = regular
            self.info = info or self.info
            self.junk += count_junk(lines)
            return answer
        match = self._pattern.search(lines)
        if match is None:
            self.error = self.last_error()
            self.info = last_score(lines, len(lines)) or self.info
            self.junk += count_junk(lines)
            return None
        end = match.end() if self._inside else match.start()
        self.info = last_score(lines, end) or self.info
        self._lines = lines[: match.end()]
        self.junk += count_junk(self._lines)
        self._put_back(lines[match.end() :])
        return match[1].strip()

    def last_error(self) -> bytes:
        """Return the last line ``info string error …`` so far, or b''."""
        start = self._lines.rfind(b"\n" + _ERROR) + 1
        if not start and not self._lines.startswith(_ERROR):
            return self.error
        return self._lines[start : self._lines.find(b"\n", start)].strip()

    def count(self, lines: bytes) -> int:
        """Return the number of answers in ``lines``, and add its lines of junk to ``junk``."""
        self.junk += count_junk(lines)
        return len(self._pattern.findall(lines))


class BestMove(NamedTuple):
    """The words of an answer: its move as text, the move, and the expected reply as text.

    ``move`` may be illegal; it is None if ``text`` is no move. ``ponder`` is '' without a reply.
    """

    text: str
    move: Move | None
    ponder: str


@lru_cache(maxsize=1 << 14)
def read_bestmove(answer: bytes) -> BestMove:
    """Return the parts of the text of an `Answer`."""
    words = answer.decode("utf-8", "replace").split()
    if words[:1] == [SANMILL_ERROR]:
        return BestMove(" ".join(words), None, "")
    text = _first_move(words)
    lower = [word.lower() for word in words]
    ponder = _first_move(words[lower.index("ponder") + 1 :]) if "ponder" in lower else ""
    try:
        return BestMove(text, parse_move(text), ponder)
    except InputError:
        return BestMove(text, None, ponder)


def _first_move(words: list[str]) -> str:
    """Return the first word joined with the removals that directly follow; '' without words."""
    text = "".join(words[:1])
    for word in words[1:]:
        if word[:1] not in ("x", "X"):
            break
        text += word
    return text
