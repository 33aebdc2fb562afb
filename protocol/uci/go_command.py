"""Parsing of the words after ``go``, which come in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from merels.engine.common.errors import InputError, shorten
from merels.engine.common.numbers import parse_whole
from merels.engine.game.notation import is_removal, join_steps, parse_move
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.search.limits import LONGEST, MAX_COUNT, Limit
from merels.protocol.uci.wording import Uci

_MAX_TIME = LONGEST * 1000
_MAX_COMPLAINTS = 10
"""Number of complaints about one line that are printed; the rest is only counted."""

_CLOCK_WORDS = {
    **dict.fromkeys(("wtime", "p1time"), ("white_clock", 0, _MAX_TIME)),
    **dict.fromkeys(("btime", "p2time"), ("black_clock", 0, _MAX_TIME)),
    **dict.fromkeys(("winc", "p1inc"), ("white_inc", 0, _MAX_TIME)),
    **dict.fromkeys(("binc", "p2inc"), ("black_inc", 0, _MAX_TIME)),
    "movestogo": ("remaining_moves", 0, 10_000),
}
_NUMBERS = {
    **_CLOCK_WORDS,
    "movetime": ("time", 1, _MAX_TIME),
    "depth": ("depth", 1, 1000),
    "nodes": ("nodes", 1, MAX_COUNT),
    "mate": ("mate", 1, 1000),
    "perft": ("perft", 0, 100),
}
"""Keywords followed by a number: the field of `Limit` (or `Go.perft`) that the number sets, and the
bounds to which it is clamped. UGI's player 1 is White."""
_TIME_FIELDS = ("white_clock", "black_clock", "white_inc", "black_inc", "time")
"""Fields in seconds, whose numbers are sent in milliseconds."""
_KEYWORDS = frozenset((*_NUMBERS, "infinite", "ponder", "searchmoves"))


class Go(NamedTuple):
    """A parsed ``go`` line; ``complaints`` are errors about invalid words, which are ignored."""

    limit: Limit
    root_moves: tuple[Move, ...] | None
    """Legal moves of ``searchmoves``; None without this word or without a word after it."""
    infinite: bool
    ponder: bool
    perft: int | None
    complaints: list[str]


def parse_go(words: Sequence[str], position: Position, dialect: Uci) -> Go:
    """Return the parsed words after ``go``; invalid words are ignored.

    Words without a limit that ends the search, and without ``infinite`` or ``perft``, set the clock
    of the side to move to 0, so that the engine moves at once, or at the ponderhit.
    """
    fields: dict[str, Any] = {}
    named: set[str] = set()
    moves: tuple[Move, ...] | None = None
    complaints: list[str] = []
    index = 0
    while index < len(words):
        keyword = words[index].lower()
        end = _argument_end(words, index)
        if keyword in _NUMBERS:
            try:
                fields[_NUMBERS[keyword][0]] = _number(keyword, words[index + 1 : end])
            except InputError as error:
                complaints.append(f"{error}; this word is ignored")
        elif keyword == "searchmoves" and end > index + 1:
            moves, illegal = _moves(words[index + 1 : end], position)
            complaints += illegal
        elif keyword not in _KEYWORDS:
            complaints.append(f"unknown word '{shorten(words[index])}' after go is ignored")
        named.add(keyword)
        index = end
    if len(complaints) > _MAX_COMPLAINTS:
        excess = len(complaints) - _MAX_COMPLAINTS
        complaints[_MAX_COMPLAINTS:] = [f"{excess} more words after go are ignored"]
    perft = fields.pop("perft", None)
    if "mate" in fields:
        fields["mate"] = dialect.mate_limit(fields["mate"])
    if fields.get("remaining_moves") == 0:
        del fields["remaining_moves"]  # Some clients send 0 if there is no next time control.
    limit = Limit(**fields)
    infinite = not words or "infinite" in named
    if not infinite and perft is None and not limit.ends(position.side):
        clock = "white_clock" if position.side == WHITE else "black_clock"
        limit = Limit(**fields | {clock: 0.0})
    return Go(limit, moves, infinite, "ponder" in named, perft, complaints)


def _argument_end(words: Sequence[str], index: int) -> int:
    """Return the index after the arguments of the keyword at ``index``.

    A keyword is never an argument of another keyword.
    """
    keyword = words[index].lower()
    limit = len(words) if keyword == "searchmoves" else index + 1 + (keyword in _NUMBERS)
    end = index + 1
    while end < min(limit, len(words)) and words[end].lower() not in _KEYWORDS:
        end += 1
    return end


def _number(keyword: str, argument: Sequence[str]) -> float:
    """Return a keyword's number, clamped to its bounds, in the unit of its field.

    `InputError` if there is no valid number.
    """
    if not argument:
        raise InputError(keyword, "expected a number after it")
    number = parse_whole(argument[0])
    if number is None:
        raise InputError(argument[0], f"expected a number for {keyword}")
    field, low, high = _NUMBERS[keyword]
    number = max(low, min(high, number))
    return number / 1000 if field in _TIME_FIELDS else number


def _moves(tokens: Sequence[str], position: Position) -> tuple[tuple[Move, ...], list[str]]:
    """Return the legal moves that ``tokens`` describe, and complaints about the other tokens."""
    complaints = []
    start = 0
    while start < len(tokens) and is_removal(tokens[start]):
        error = InputError(tokens[start], "expected a move before the removal")
        complaints.append(f"{error}; this word is ignored")
        start += 1
    moves: dict[Move, None] = {}
    for _, token in join_steps(tokens[start:]):
        try:
            move = parse_move(token)
            position.push(move)
            moves[move] = None
        except InputError as error:
            complaints.append(f"{error}; this word is ignored")
    return tuple(moves), complaints
