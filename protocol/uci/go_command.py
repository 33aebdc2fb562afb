"""The words behind ``go``, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.numbers import parse_whole
from merels.engine.game.position import Move, Position
from merels.engine.search.limits import LONGEST, Limit
from merels.protocol.uci.dialects import Uci

_MOST_NODES = 10**18
_MOST_COMPLAINTS = 10
"""A line of megabytes must not be answered by many times as much, before the search begins."""

_MOST_TIME = LONGEST * 1000

# Each number's bounds: beyond them it is taken as the bound. White is the first player.
_TIMES = {
    "wtime": "white_clock", "btime": "black_clock", "p1time": "white_clock",
    "p2time": "black_clock", "winc": "white_inc", "binc": "black_inc", "p1inc": "white_inc",
    "p2inc": "black_inc", "movetime": "time",
}
"""The fields of `Limit` that the times set, in milliseconds."""
_BOUNDS = {
    **{name: (-_MOST_TIME, _MOST_TIME) for name in ("wtime", "btime", "p1time", "p2time")},
    **{name: (0, _MOST_TIME) for name in ("winc", "binc", "p1inc", "p2inc")},
    "movestogo": (0, 10_000),
    "movetime": (1, _MOST_TIME),
    "depth": (1, 1000),
    "nodes": (1, _MOST_NODES),
    "mate": (1, 1000),
    "perft": (0, 100),
}
_FLAGS = ("infinite", "ponder")
_KEYWORDS = frozenset((*_BOUNDS, *_FLAGS, "searchmoves"))


class Go(NamedTuple):
    """What a ``go`` line asks for, and what was wrong with it (one line each)."""

    limit: Limit
    root_moves: tuple[Move, ...]
    infinite: bool
    ponder: bool
    perft: int | None
    complaints: list[str]


def parse_go(words: Sequence[str], position: Position, dialect: Uci) -> Go:
    """The limits that the words behind ``go`` set; words that make no sense are left out."""
    numbers: dict[str, int] = {}
    flags: set[str] = set()
    moves: tuple[Move, ...] = ()
    complaints: list[str] = []
    index = 0
    while index < len(words):
        keyword = words[index].lower()
        end = _argument_end(words, index)
        if keyword in _BOUNDS:
            try:
                numbers[keyword] = _number(keyword, words[index + 1 : end])
            except InputError as error:
                complaints.append(str(error))
        elif keyword in _FLAGS:
            flags.add(keyword)
        elif keyword == "searchmoves":
            moves, illegal = _moves(words[index + 1 : end], position)
            complaints += illegal
        else:
            complaints.append(f"unknown word '{shorten(words[index])}' behind go is ignored")
        index = end
    if len(complaints) > _MOST_COMPLAINTS:
        rest = len(complaints) - _MOST_COMPLAINTS
        complaints[_MOST_COMPLAINTS:] = [f"{rest} more words behind go are ignored"]
    times = {_TIMES[word]: number / 1000 for word, number in numbers.items() if word in _TIMES}
    limit = Limit(
        depth=numbers.get("depth"),
        nodes=numbers.get("nodes"),
        mate=dialect.mate_limit(numbers["mate"]) if "mate" in numbers else None,
        # Some clients write 0 where there is no next time control.
        remaining_moves=numbers.get("movestogo") or None,
        **times,
    )
    return Go(
        limit, moves, "infinite" in flags, "ponder" in flags, numbers.get("perft"), complaints
    )


def _argument_end(words: Sequence[str], index: int) -> int:
    """The index behind a keyword's arguments; no keyword is ever an argument."""
    keyword = words[index].lower()
    most = len(words) if keyword == "searchmoves" else index + 1 + (keyword in _BOUNDS)
    end = index + 1
    while end < min(most, len(words)) and words[end].lower() not in _KEYWORDS:
        end += 1
    return end


def _number(keyword: str, argument: Sequence[str]) -> int:
    """A keyword's number, taken as its bound where it lies beyond."""
    if not argument:
        raise InputError(keyword, "expected a number behind it; it is ignored")
    text = argument[0]
    number = parse_whole(text)
    if number is None:
        raise InputError(text, f"expected a number for {keyword}; it is ignored")
    low, high = _BOUNDS[keyword]
    return max(low, min(high, number))


def _moves(tokens: Sequence[str], position: Position) -> tuple[tuple[Move, ...], list[str]]:
    """The legal ones of the moves to be searched, and a complaint for each of the others."""
    complaints = []
    first = 0
    while first < len(tokens) and tokens[first][0] in "xX":
        complaints.append(f"{InputError(tokens[first], 'a removal without its move')} is ignored")
        first += 1
    moves: dict[Move, None] = {}
    for _, token in join_steps(tokens[first:]):
        try:
            move = parse_move(token)
            position.push(move)
            moves[move] = None
        except InputError as error:
            complaints.append(f"{error}; it is ignored")
    return tuple(moves), complaints
