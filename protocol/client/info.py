"""Parsing of the ``info`` lines that an engine sends while it searches."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import parse_whole
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.position import Move, Position
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info
from merels.protocol.client.scanner import parse_summary

SCORES = ("cp", "mate")
"""Words followed by a whole number that may be negative."""
_COUNTS = ("depth", "seldepth", "multipv", "nodes", "nps", "time", "hashfull", "tbhits")
"""Words followed by a natural number for which `Info` has a field."""
_NUMBERS = frozenset((*_COUNTS, *SCORES, "currmovenumber", "sbhits", "cpuload"))
_LISTS = ("pv", "refutation", "currline")
"""Words followed by moves, up to the next word of the protocol."""
_BOUNDS = {"lowerbound": "lower", "upperbound": "upper"}
_WORDS = _NUMBERS.union(_LISTS, _BOUNDS, ("score", "currmove", "string", "wdl"))
_TOO_LARGE = 10**18
"""Counts from this number on are not credible and are left out of an `Info`."""


@dataclass(slots=True)
class InfoLine:
    """The parts of an ``info`` line; of a repeated number, the first.

    ``mistakes`` are sentences about missing and invalid values. ``unknown`` lists the words that
    are not in the protocol, and words of the protocol with capitals, which are still read.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    bound: str = ""
    wdl: tuple[int, ...] = ()
    pv: list[str] | None = None
    string: str = ""
    mistakes: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def scored(self) -> bool:
        """Whether the line has a score."""
        return any(word in self.numbers for word in SCORES)


def read_info(line: bytes) -> InfoLine:
    """Return the parts of an ``info`` line; its last part may be free text after ``string``."""
    info = InfoLine()
    words = line.decode("utf-8", "replace").split()[1:]
    index = 0
    while index < len(words):
        word = words[index].lower()
        if word not in _WORDS or word != words[index]:
            info.unknown.append(words[index])
        index += 1
        if word == "string":
            info.string = printable(" ".join(words[index:]))
            break
        if word in _NUMBERS:
            text = words[index] if index < len(words) else ""
            value = parse_whole(text)
            if value is None or value < 0 and word not in SCORES:
                follows = f"is followed by '{text}'" if text else "is the last word"
                kind = "a whole number" + ("" if word in SCORES else " from 0")
                info.mistakes.append(f"'{word}' {follows}; expected {kind}")
            else:
                info.numbers.setdefault(word, value)
            index += text != "" and text.lower() not in _WORDS
        elif word in _LISTS:
            end = index
            while end < len(words) and words[end].lower() not in _WORDS:
                end += 1
            if word == "pv":
                info.pv = words[index:end]
            index = end
        elif word == "wdl":
            parts = [parse_whole(text) for text in words[index : index + 3]]
            numbers = tuple(part for part in parts if part is not None)
            if len(numbers) == 3:
                info.wdl = numbers
            else:
                info.mistakes.append("'wdl' is not followed by three whole numbers")
            index += 3
        elif word in _BOUNDS:
            info.bound = _BOUNDS[word]
        elif word == "currmove":
            index += 1
        elif word == "score" and words[index : index + 1] not in (["cp"], ["mate"]):
            info.mistakes.append("'score' is not followed by cp or mate")
    return info


def parse_info(
    line: bytes, position: Position, white_view: bool = False, in_plies: bool = False
) -> Info:
    """Return the contents of an ``info`` line about a search of ``position``.

    ``white_view``: scores are White's view, not the mover's. ``in_plies``: mates count plies, not
    moves. The pv ends before its first illegal move.
    """
    parts = read_info(line)
    values = {name: value for name, value in parts.numbers.items()
              if name in _COUNTS and value < _TOO_LARGE}
    summary = parse_summary(line, position.side, white_view, in_plies)
    score = None
    if summary.score is not None or summary.win_in is not None:
        score = PovScore(Score(summary.score, summary.win_in), position.side)
    milliseconds = values.pop("time", None)
    time = None if milliseconds is None else milliseconds / 1000
    win, draw, loss = parts.wdl or (0, 0, 0)
    return Info(
        score=score, bound=parts.bound, time=time, wdl=(win, draw, loss) if parts.wdl else None,
        pv=_legal_moves(position, parts.pv or []), string=parts.string, **values,
    )


def _legal_moves(position: Position, words: list[str]) -> tuple[Move, ...]:
    """Return the moves of a variation before the first illegal move."""
    moves = []
    with suppress(InputError):
        for _, token in join_steps(words):
            move = parse_move(token)
            position = position.push(move)
            moves.append(move)
    return tuple(moves)
