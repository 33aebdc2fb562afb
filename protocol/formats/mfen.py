"""Positions as MFEN/1.0, of the Mill Interchange Format, candidate 1.0.

The draft, ``mif-1.0.md`` of github.com/calcitem/mill-interchange-format, may change. An error names
a part of the draft that merels does not support.
"""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole
from merels.engine.game.board import (
    ANGLES,
    BLACK_MAN,
    EMPTY,
    NAMES,
    RINGS,
    SIZE,
    WHITE_MAN,
    format_board,
)
from merels.engine.game.fields import read_six
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import DEFAULT_RULES, MAXIMUM_PLIES, MEN_PER_SIDE, Rules

MFEN = "MFEN/1.0"
STATE = "mill24-state-v1"
MAXIMUM_PLY = 2_000_000

_RING_ORDER = "a7 d7 g7 g4 g1 d1 a1 a4 b6 d6 f6 f4 f2 d2 b2 b4 c5 d5 e5 e4 e3 d3 c3 c4".split()
_MEN = {"W": WHITE_MAN, "B": BLACK_MAN, ".": EMPTY}
_LETTERS = {man: letter for letter, man in _MEN.items()}
_REASONS = {
    "men": "fewer-than-minimum", "blocked": "no-legal-move", "repetition": "repetition",
    "three": "no-progress", "norem": "no-progress",
}  # fmt: skip
"""The draft's names for the ends of a game, by the reason of an `Outcome`."""
_NOT_IN_POSITION = ("repetition", "agreement", "resignation", "adjudication")
"""Ends of a game that do not follow from its last position."""


def format_mfen(position: Position) -> str:
    """Return a position as MFEN/1.0.

    The number of plies is derived from the move number. White played the first move, unless the men
    in hand show that Black did.
    """
    men = format_board(position.men).replace("/", "")
    board = _reordered("".join(_LETTERS[man] for man in men), NAMES, _RING_ORDER)
    side, phase = "wb"[position.side], "p" if position.hands[position.side] else "m"
    end = _end_of(position)
    if end != "-":
        side, phase = "-", "o"
    return (
        f"{MFEN} {STATE} {board} {side} {phase} {phase} "
        f"{position.hands[WHITE]},{position.hands[BLACK]} - {min(position.plies, MAXIMUM_PLIES)} "
        f"{_primary_ply(position, end)} {end}"
    )


def read_position(text: str, rules: Rules = DEFAULT_RULES) -> Position:
    """Return the position of a text in MFEN/1.0 or in a form of `parse_position`.

    `InputError` names an invalid field.
    """
    fields = text.split()
    if not fields or fields[0][:5].upper() != "MFEN/":
        return parse_position(text, rules)
    position = Position.of(rules, *read_six(*_six_fields(fields)))
    _check_end(position, fields)
    return position


def _six_fields(fields: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the six fields of an MFEN/1.0 position, and the index of the MFEN field of each.

    `InputError` for a removal that is still due, and for features that merels does not have.
    """
    _check_words(fields)
    _, _, board, side, phase, action, hands, _, plies, ply, end = fields[:11]
    white, comma, black = hands.partition(",")
    if not comma:
        raise InputError(hands, "expected the men in White's and Black's hand, such as 9,9", 6)
    in_hand = [
        read_whole(text, 0, MEN_PER_SIDE, what=f"{colour}'s men in hand", index=6)
        for colour, text in zip(COLOURS, (white, black))
    ]
    played = read_whole(ply, 0, MAXIMUM_PLY - 1, what="the plies played", index=9)
    if end == "-":
        if side not in ("w", "b"):
            raise InputError(side, "expected the side to move, w or b", 3)
        placing = in_hand["wb".index(side)] > 0
        _check_phase(phase, action, placing)
    elif (side, phase, action) != ("-", "o", "o"):
        raise InputError(end, "expected - here, or - o o as side, phase and action", 10)
    else:
        # MFEN has no side to move after the end of a game. It would be the loser's turn; after a
        # draw, the number of plies decides.
        side = {"w": "b", "b": "w"}.get(end[0], "wb"[played % 2])
    first_side = (played - "wb".index(side)) % 2
    number = (played + (first_side == BLACK and side == "w")) // 2 + 1
    six = [_read_board(board), side, white, black, plies, str(number)]
    return six, [2, 3, 6, 6, 8, 9]


def _check_end(position: Position, fields: Sequence[str]) -> None:
    """Raise `InputError` if the text states an end of the game that the position does not have."""
    stated, actual = fields[10], _end_of(position)
    if stated in ("-", actual):
        return
    if stated.partition(":")[2] in _NOT_IN_POSITION:
        hint = "write it as a position of a game that goes on"
        raise InputError(stated, f"a position cannot show this end of a game; {hint}", 10)
    here = "the game goes on" if actual == "-" else f"the game ends as {actual}"
    raise InputError(stated, f"under the rules {position.rules} {here} here", 10)


def _check_phase(phase: str, action: str, placing: bool) -> None:
    """Raise `InputError` if phase or action contradict the men in hand of the side to move."""
    letter, men = ("p", "men") if placing else ("m", "no man")
    for field, index in ((phase, 4), (action, 5)):
        if field != letter:
            raise InputError(field, f"expected {letter}: the side to move has {men} in hand", index)


def _check_words(fields: Sequence[str]) -> None:
    """Raise `InputError` for unknown words, and for features that merels does not have."""
    if fields[0] != MFEN:
        why = "in capitals" if fields[0].upper() == MFEN else "the version that merels reads"
        raise InputError(fields[0], f"expected {MFEN}, {why}", 0)
    if len(fields) < 11:
        raise InputError(" ".join(fields), f"expected the 11 fields of {MFEN}, found {len(fields)}")
    if fields[1] != STATE:
        raise InputError(fields[1], f"expected {STATE}, the state that merels reads", 1)
    for index, letters, expected in (
        (3, "wb-", "the side to move, w or b, or - after the end of the game"),
        (4, "pmo", "a phase: p, m or o"), (5, "pmro", "an action: p, m, r or o"),
    ):
        if fields[index] not in tuple(letters):
            raise InputError(fields[index], f"expected {expected}", index)
    if fields[5] == "r" or fields[7] != "-":
        index = 7 if fields[7] != "-" else 5
        raise InputError(
            fields[index], "a removal is still due; give the position after the whole move", index
        )
    if len(fields) > 11:
        expected = "this field belongs to rules that merels does not have; it reads 11 fields"
        raise InputError(fields[11], expected, 11)


def _read_board(text: str) -> str:
    """Return MFEN's board as the board of the six fields."""
    rings = text.split("/")
    if len(rings) != RINGS or any(len(ring) != ANGLES for ring in rings):
        raise InputError(text, "expected three rings of eight points, separated by '/'", 2)
    letters = "".join(rings)
    for name, letter in zip(_RING_ORDER, letters):
        if letter in ("w", "b"):
            expected = f"merels has no rules under which a man blocks a point ({name})"
            raise InputError(letter, expected, 2)
        if letter not in _MEN:
            raise InputError(letter, f"expected W, B or . at {name}", 2)
    return _reordered("".join(_MEN[letter] for letter in letters), _RING_ORDER, NAMES)


def _reordered(men: str, order: Sequence[str], new_order: Sequence[str]) -> str:
    """Return a board of 24 characters as three rings, with the points in another order."""
    man_at = dict(zip(order, men))
    text = "".join(man_at[name] for name in new_order)
    return "/".join(text[start : start + ANGLES] for start in range(0, SIZE, ANGLES))


def _end_of(position: Position) -> str:
    """Return the draft's text for the end of the game in this position; - if it goes on."""
    outcome = position.outcome()
    if outcome is None:
        return "-"
    winner = "d" if outcome.winner is None else "wb"[outcome.winner]
    return f"{winner}:{_REASONS[outcome.reason]}"


def _primary_ply(position: Position, end: str) -> int:
    """Return the number of plies played, from the move number and the men in hand."""
    side, (white, black) = position.side, position.hands
    number = min(position.number, MAXIMUM_PLY // 2)
    black_first = end == "-" and (white or black) and black + (side == WHITE) == white
    if black_first and (number > 1 or side == BLACK):
        return 2 * (number - 1) - (side == WHITE)
    return 2 * (number - 1) + side
