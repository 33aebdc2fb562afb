"""Lines that an engine printed, and its answers to searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move, Position
from merels.protocol.client.answers import NO_MOVES
from merels.protocol.client.info import InfoLine, read_info


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the engine's output."""

    raw: bytes
    """The line without its line feed."""
    at: int
    """Time of arrival, by `time.monotonic_ns`."""

    @property
    def text(self) -> str:
        """The line without white space at its ends."""
        return self.raw.decode("utf-8", "replace").strip()

    @property
    def words(self) -> list[str]:
        """The line's words."""
        return self.text.split()

    @property
    def first(self) -> str:
        """The first word in lower case."""
        words = self.raw[:80].decode("utf-8", "replace").split(None, 1)
        return words[0].lower() if words else ""


class Kind(Enum):
    """The legality of a ``bestmove``."""

    LEGAL = "legal"
    NONE = "no move"
    WITHOUT_REMOVAL = "a mill without its removal"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"


@dataclass(slots=True)
class Search:
    """A ``go`` and the lines that answer it."""

    position: Position
    setup: str
    """The ``position`` line."""
    go: str
    started: int
    """Time at which ``go`` was sent, by `time.monotonic_ns`."""
    lines: list[Line] = field(default_factory=list)
    """The lines before ``bestmove``."""
    best: Line | None = None
    """The ``bestmove`` line, or None before it arrives."""

    def seconds_from(self, start: int) -> float:
        """Return the seconds from ``start``, in ns, to ``bestmove``; 0 before it arrives."""
        return (self.best.at - start) / 1e9 if self.best else 0.0

    @property
    def infos(self) -> list[tuple[Line, InfoLine]]:
        """The parsed info lines that contain a number, a mistake or an unknown word."""
        infos = [(line, read_info(line.raw)) for line in self.lines if line.first == "info"]
        return [(line, info) for line, info in infos
                if info.numbers or info.mistakes or info.unknown]

    @property
    def scored(self) -> list[tuple[Line, InfoLine]]:
        """The parsed info lines with a score."""
        return [(line, info) for line, info in self.infos if info.scored]

    @property
    def final(self) -> tuple[Line, InfoLine] | None:
        """The last info line with an exact score of the best variation, or None."""
        return next(((line, info) for line, info in reversed(self.scored)
                     if not info.bound and info.numbers.get("multipv", 1) == 1), None)

    @property
    def words(self) -> list[str]:
        """The words of the ``bestmove`` line; empty before it arrives."""
        return self.best.words if self.best else []

    @property
    def answer(self) -> str:
        """The word after ``bestmove``, or ''."""
        return "".join(self.words[1:2])

    @property
    def move(self) -> Move | None:
        """The move in the answer, or None if the answer is malformed."""
        return move_or_none(self.answer)

    @property
    def kind(self) -> Kind:
        """The legality of the answer."""
        return judge(self.position, self.answer)

    def __str__(self) -> str:
        return f"'{self.go}' after '{self.setup}'"


def judge(position: Position, text: str) -> Kind:
    """Return the legality of a ``bestmove`` with move ``text`` in a position."""
    if text.lower() in NO_MOVES:
        return Kind.NONE
    move = move_or_none(text)
    if move is None:
        return Kind.UNREADABLE
    if position.is_legal(move):
        return Kind.LEGAL
    mills = {legal[:2] for legal in position.legal_moves() if legal.removed}
    return Kind.WITHOUT_REMOVAL if not move.removed and move[:2] in mills else Kind.ILLEGAL


def move_or_none(text: str) -> Move | None:
    """Parse a move; return None if ``text`` is malformed."""
    try:
        return parse_move(text)
    except InputError:
        return None
