"""The words behind ``go``, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import join_steps, parse_move
from merels.engine.game.numbers import parse_whole
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.search.limits import Limits
from merels.engine.search.watch import LONGEST
from merels.protocol.uci.dialects import Uci

_MOST_NODES = 10**18
_MOST_COMPLAINTS = 10
"""A line of megabytes must not be answered by many times as much, before the search begins."""

# Each number's bounds: beyond them it is taken as the bound. White is the first player.
_TIME = {"wtime": WHITE, "btime": BLACK, "p1time": WHITE, "p2time": BLACK}
_INCREMENT = {"winc": WHITE, "binc": BLACK, "p1inc": WHITE, "p2inc": BLACK}
_BOUNDS = {
    **{name: (-LONGEST, LONGEST) for name in _TIME},
    **{name: (0, LONGEST) for name in _INCREMENT},
    "movestogo": (0, 10_000),
    "movetime": (1, LONGEST),
    "depth": (1, 1000),
    "nodes": (1, _MOST_NODES),
    "mate": (1, 1000),
    "perft": (0, 100),
}
_FLAGS = ("infinite", "ponder")
_KEYWORDS = frozenset((*_BOUNDS, *_FLAGS, "searchmoves"))


class Go(NamedTuple):
    """What a ``go`` line asks for, and what was wrong with it (one line each)."""

    limits: Limits
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
    increments = _pair(_INCREMENT, numbers)
    limits = Limits(
        depth=numbers.get("depth"),
        nodes=numbers.get("nodes"),
        mate=dialect.mate_limit(numbers["mate"]) if "mate" in numbers else None,
        movetime=numbers.get("movetime"),
        time=_pair(_TIME, numbers),
        increment=(increments[WHITE] or 0, increments[BLACK] or 0),
        # Some clients write 0 where there is no next time control.
        moves_to_go=numbers.get("movestogo") or None,
        infinite="infinite" in flags,
        ponder="ponder" in flags,
        moves=moves,
    )
    return Go(limits, numbers.get("perft"), complaints)


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


def _pair(names: dict[str, int], numbers: dict[str, int]) -> tuple[int | None, int | None]:
    """White's and Black's number of a kind; None where it was not given."""
    pair: list[int | None] = [None, None]
    for name, side in names.items():
        pair[side] = numbers.get(name, pair[side])
    return pair[WHITE], pair[BLACK]


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
