"""Scores and search information in the words of an engine's ``info`` lines, as typed values."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.numbers import parse_whole
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info

_LONGEST_NUMBER = 18

_USUAL = re.compile(
    rb"info depth (\d{1,9})(?: seldepth \d+)?(?: multipv \d+)? "
    rb"score (cp|mate) (-?\d{1,9})(?: wdl \d+ \d+ \d+)?(?: nodes (\d{1,18}))? "
)
"""The order that most engines write in: read at once; any other is taken word by word."""


@dataclass(slots=True)
class Brief:
    """What a tournament keeps of an ``info`` line; the score is the view of the side to move."""

    score: int | None = None
    """Centi-men."""
    win_in: int | None = None
    """Plies to a claimed win (> 0) or loss (<= 0)."""
    depth: int = 0
    nodes: int = 0


def number(word: bytes) -> int | None:
    """A decimal number of an engine's, or None for anything else and for absurd lengths."""
    return parse_whole(word.decode("latin-1")) if len(word) <= _LONGEST_NUMBER else None


def parse_brief(line: bytes, side: int, white_view: bool = False, in_plies: bool = False) -> Brief:
    """Score, depth and nodes of an ``info`` line; what cannot be read is left out.

    ``side`` was to move; ``white_view`` says that the engine reports White's view throughout.
    """
    match = _USUAL.match(line)
    if match is not None and match[4] is not None:
        depth_text, kind, value_text, nodes_text = match.groups()
        depth, value, nodes = int(depth_text), int(value_text), int(nodes_text)
    else:
        words = line.partition(b" string ")[0].split()
        depth, nodes = _count_after(b"depth", words), _count_after(b"nodes", words)
        kind, found = _score_words(words)
        if found is None:
            return Brief(None, None, depth, nodes)
        value = found
    if white_view and side != WHITE:
        value = -value
    if kind != b"mate":
        return Brief(value, None, depth, nodes)
    if not in_plies:
        # UCI counts own moves: a win in N takes 2 N - 1 plies, a loss in N takes 2 N.
        value = 2 * value - (value > 0)
    return Brief(None, value, depth, nodes)


def _score_words(words: list[bytes]) -> tuple[bytes, int | None]:
    """The kind of a score, ``cp`` where none is written, and its number."""
    try:
        at = words.index(b"score") + 1
        if words[at] in (b"cp", b"mate"):
            return words[at], number(words[at + 1])
        return b"cp", number(words[at])
    except (ValueError, IndexError):
        return b"cp", None


def _count_after(name: bytes, words: list[bytes]) -> int:
    """The number after a name, or 0."""
    try:
        return max(0, number(words[words.index(name) + 1]) or 0)
    except (ValueError, IndexError):
        return 0


_COUNTS = ("depth", "seldepth", "multipv", "nodes", "nps", "time", "hashfull", "tbhits")
_BOUNDS = {b"lowerbound": "lower", b"upperbound": "upper"}


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
