"""The ``info`` lines of a search: their words, and the `Info` that they make."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import parse_whole
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.position import Move, Position
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info
from merels.protocol.client.scanner import parse_brief

SCORES = ("cp", "mate")
"""Words followed by a whole number that may be negative."""
_COUNTS = ("depth", "seldepth", "multipv", "nodes", "nps", "time", "hashfull", "tbhits")
"""Words followed by a whole number that `Info` holds."""
_NUMBERS = frozenset((*_COUNTS, *SCORES, "currmovenumber", "sbhits", "cpuload"))
_LISTS = ("pv", "refutation", "currline")
"""Words followed by moves, up to the next known word."""
_BOUNDS = {"lowerbound": "lower", "upperbound": "upper"}
_WORDS = _NUMBERS.union(_LISTS, _BOUNDS, ("score", "currmove", "string", "wdl"))
_TOO_LARGE = 10**18
"""Numbers from here on are absurd, and are left out of an `Info`."""


@dataclass(slots=True)
class InfoLine:
    """The parts of an ``info`` line; ``mistakes`` and ``unknown`` words break the protocol."""

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
    """Return the parts of an ``info`` line.

    A word in capitals is read, and is ``unknown`` as well. Text after ``string`` is free.
    """
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
                info.mistakes.append(f"'{word}' is followed by '{text}', not a number")
            else:
                info.numbers[word] = value
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
            known = tuple(part for part in parts if part is not None)
            if len(known) == 3:
                info.wdl = known
            else:
                info.mistakes.append("'wdl' is not followed by three numbers")
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
    """Return all that an ``info`` line reports of a search of ``position``."""
    read = read_info(line)
    values = {name: value for name, value in read.numbers.items()
              if name in _COUNTS and value < _TOO_LARGE}
    brief = parse_brief(line, position.side, white_view, in_plies)
    score = None
    if brief.score is not None or brief.win_in is not None:
        score = PovScore(Score(brief.score, brief.win_in), position.side)
    milliseconds = values.pop("time", None)
    time = None if milliseconds is None else milliseconds / 1000
    win, draw, loss = read.wdl or (0, 0, 0)
    return Info(
        score=score, bound=read.bound, time=time, wdl=(win, draw, loss) if read.wdl else None,
        pv=_legal_moves(position, read.pv or []), string=read.string, **values,
    )


def _legal_moves(position: Position, words: list[str]) -> tuple[Move, ...]:
    """The moves of a variation up to the first illegal one."""
    moves = []
    with suppress(InputError):
        for _, token in join_steps(words):
            move = parse_move(token)
            position = position.push(move)
            moves.append(move)
    return tuple(moves)
