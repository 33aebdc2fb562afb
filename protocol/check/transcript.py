"""What an engine wrote: its lines, its info lines word by word, and its answers to searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from merels.engine.game.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.numbers import parse_whole
from merels.engine.game.position import Move, Position
from merels.protocol.client.answers import NO_MOVES

NUMBERS = (
    "depth", "seldepth", "time", "nodes", "multipv", "currmovenumber", "hashfull", "nps", "tbhits",
    "sbhits", "cpuload", "cp", "mate",
)
"""The words of an info line that are followed by a whole number."""
SCORES = ("cp", "mate")
"""Those of them that may be negative."""
LISTS = ("pv", "refutation", "currline")
"""The words that are followed by moves, up to the next known word."""
WORDS = frozenset(
    (*NUMBERS, *LISTS, "score", "lowerbound", "upperbound", "currmove", "string", "wdl")
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its line feed, and the time at which it came (`time.monotonic_ns`)."""

    raw: bytes
    at: int

    @property
    def text(self) -> str:
        """The line without outer spaces."""
        return self.raw.decode("utf-8", "replace").strip()

    @property
    def words(self) -> list[str]:
        """The words of the line."""
        return self.text.split()

    @property
    def first(self) -> str:
        """The first word in lower case."""
        words = self.raw[:80].decode("utf-8", "replace").split(None, 1)
        return words[0].lower() if words else ""


@dataclass(slots=True)
class Info:
    """An info line's parts; ``mistakes`` and ``unknown`` words break the protocol."""

    line: Line
    numbers: dict[str, int] = field(default_factory=dict)
    bound: bool = False
    wdl: tuple[int, ...] = ()
    pv: list[str] | None = None
    mistakes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def scored(self) -> bool:
        """Whether the line has a score."""
        return any(word in self.numbers for word in SCORES)


def read_info(line: Line) -> Info:
    """The parts of an ``info`` line; whatever follows ``string`` is free text."""
    info = Info(line)
    words = line.words[1:]
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "string":
            break
        if word in NUMBERS:
            text = words[index] if index < len(words) else ""
            value = parse_whole(text)
            if value is None or value < 0 and word not in SCORES:
                info.mistakes.append(f"'{word}' is followed by '{text}', not a number")
            else:
                info.numbers[word] = value
            index += text != "" and text not in WORDS
        elif word in LISTS:
            end = index
            while end < len(words) and words[end] not in WORDS:
                end += 1
            if word == "pv":
                info.pv = words[index:end]
            index = end
        elif word == "wdl":
            parts = [parse_whole(text) for text in words[index : index + 3]]
            if len(parts) < 3 or None in parts:
                info.mistakes.append("'wdl' is not followed by three numbers")
            info.wdl = tuple(part or 0 for part in parts)
            index += 3
        elif word in ("lowerbound", "upperbound"):
            info.bound = True
        elif word == "currmove":
            index += 1
        elif word == "score":
            if words[index : index + 1] not in (["cp"], ["mate"]):
                info.mistakes.append("'score' is not followed by cp or mate")
        else:
            info.unknown.append(word)
    return info


class Kind(Enum):
    """What a ``bestmove`` is by the rules."""

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
    """The time at which ``go`` was sent (`time.monotonic_ns`)."""
    lines: list[Line] = field(default_factory=list)
    """The lines before the answer."""
    best: Line | None = None
    """The ``bestmove`` line."""

    @property
    def elapsed(self) -> float:
        """Seconds from ``go`` to the answer."""
        return ((self.best.at if self.best else self.started) - self.started) / 1e9

    @property
    def infos(self) -> list[Info]:
        """The info lines, except those that hold only text."""
        infos = [read_info(line) for line in self.lines if line.first == "info"]
        return [info for info in infos if info.numbers or info.mistakes or info.unknown]

    @property
    def final(self) -> Info | None:
        """The last exact score of the best variation, with the rest of its line."""
        scored = (info for info in reversed(self.infos) if info.scored and not info.bound)
        return next((info for info in scored if info.numbers.get("multipv", 1) == 1), None)

    @property
    def quote(self) -> bytes | None:
        """The answer as it came."""
        return self.best.raw if self.best else None

    @property
    def answer(self) -> str:
        """The word after ``bestmove``."""
        words = self.best.words if self.best else []
        return words[1] if len(words) > 1 else ""

    @property
    def kind(self) -> Kind:
        """What the answer is by the rules."""
        return judge(self.position, self.answer)

    def __str__(self) -> str:
        return f"'{self.go}' after '{self.setup}'"


def judge(position: Position, text: str) -> Kind:
    """What a ``bestmove`` with this text is in a position."""
    if text.lower() in NO_MOVES:
        return Kind.NONE
    move = read(text)
    if move is None:
        return Kind.UNREADABLE
    if position.is_legal(move):
        return Kind.LEGAL
    steps = {legal[:2] for legal in position.legal_moves() if legal.removed}
    return Kind.WITHOUT_REMOVAL if not move.removed and move[:2] in steps else Kind.ILLEGAL


def read(text: str) -> Move | None:
    """A move from its text; None if it is not one."""
    try:
        return parse_move(text)
    except InputError:
        return None
