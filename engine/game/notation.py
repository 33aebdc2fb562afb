"""Moves and positions as text.

A move is one token: ``d6``, ``d6xb4``, ``d6-d5``, ``a4xb2xd6``. A position has six fields, or the
17 fields of Sanmill. Malformed text raises `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from merels.engine.common.errors import InputError, required_text
from merels.engine.common.numbers import read_whole
from merels.engine.game.board import (
    ANGLES,
    BLACK_MAN,
    EMPTY,
    NAMES,
    POINTS,
    RINGS,
    WHITE_MAN,
    format_board,
)
from merels.engine.game.position import (
    BLACK,
    COLOURS,
    WHITE,
    Move,
    Position,
    read_move,
    required_position,
)
from merels.engine.game.rules import DEFAULT_RULES, MAXIMUM_PLIES, MEN_PER_SIDE, Rules

START = "********/********/******** w 9 9 0 1"
SIDES = "wb"
MAXIMUM_NUMBER = 1_000_000

parse_move = Move.from_text


def is_removal(token: str) -> bool:
    """Return whether a token begins like a removal, ``x`` and a point, and not like ``xyz``."""
    return token[:1] in ("x", "X") and token[1:3].lower() in POINTS


def join_steps(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield complete moves, each with the index of its first token.

    Some engines write a removal as a separate token (``d6-d5 xc3``).
    """
    start, move = 0, ""
    for index, token in enumerate(tokens):
        required_text(token, "a move")
        if is_removal(token):
            if not move:
                raise InputError(token, "expected a move before the removal", index)
            move += token
            continue
        if move:
            yield start, move
        start, move = index, token
    if move:
        yield start, move


def play_moves(position: Position, tokens: Sequence[str]) -> Position:
    """Return the position after some moves; `InputError` names a token that is no legal move."""
    required_position(position)
    if isinstance(tokens, str):
        raise InputError(tokens, "expected a list of moves; text.split() makes one")
    for index, token in join_steps(tokens):
        try:
            position = position.push(token)
        except InputError as error:
            raise error.at(index) from None
    return position


def parse_position(text: str, rules: Rules = DEFAULT_RULES) -> Position:
    """Return the position of a text with six fields, or with the 17 fields of Sanmill.

    An `InputError` about one field has that field's index, counted from 0.
    """
    fields = required_text(text, "the 6 fields of a position").split()
    if len(fields) == 6:
        return parse_six(fields, range(6), rules)
    if len(fields) >= 17:
        return _parse_seventeen(fields, rules)
    raise InputError(text, f"expected the 6 or 17 fields of a position, found {len(fields)}")


def format_position(position: Position) -> str:
    """Return the six fields of a position."""
    required_position(position)
    return (
        f"{format_board(position.men)} {SIDES[position.side]} {position.hands[WHITE]} "
        f"{position.hands[BLACK]} {_counters(position)}"
    )


def _counters(position: Position) -> str:
    """Return the last two fields, capped at the values that `parse_position` accepts."""
    return f"{min(position.plies, MAXIMUM_PLIES)} {min(position.number, MAXIMUM_NUMBER)}"


def parse_six(fields: Sequence[str], places: Sequence[int], rules: Rules) -> Position:
    """Return the position of six fields; ``places`` are their indices in the text, for errors."""
    board, side, white_hand, black_hand, plies, number = fields
    men = _parse_board(board, places[0])
    if side not in ("w", "b"):
        raise InputError(side, "expected the side to move, w or b", places[1])
    hands = (
        read_whole(white_hand, 0, MEN_PER_SIDE, what="White's men in hand", index=places[2]),
        read_whole(black_hand, 0, MEN_PER_SIDE, what="Black's men in hand", index=places[3]),
    )
    for colour, mask, hand, place in zip(COLOURS, men, hands, places[2:4]):
        if mask.bit_count() + hand > MEN_PER_SIDE:
            raise InputError(
                str(hand),
                f"expected at most {MEN_PER_SIDE} men for {colour}, "
                f"found {mask.bit_count()} on the board and {hand} in hand",
                place,
            )
    return Position(
        rules,
        men,
        hands,
        SIDES.index(side),
        read_whole(plies, 0, MAXIMUM_PLIES, what="plies without a removal", index=places[4]),
        read_whole(number, 1, MAXIMUM_NUMBER, what="a move number", index=places[5]),
    )


def _parse_seventeen(fields: Sequence[str], rules: Rules) -> Position:
    """Return the position of Sanmill's 17 fields.

    They are board, side, phase, action, four counts of men, two counts of removals due, four
    points of last mills, a mask of mills, plies and move number; ``ids:`` may follow.
    """
    if len(fields) > 17 and not fields[17].startswith("ids:"):
        raise InputError(fields[17], "expected the 17 fields of a position to end here", 17)
    phase, action = fields[2:4]
    if phase not in ("r", "p", "n", "m", "o"):
        raise InputError(phase, "expected a phase: r, p, n, m or o", 2)
    if action not in ("p", "s", "r"):
        raise InputError(action, "expected an action: p, s or r", 3)
    removals_due = [
        read_whole(fields[place], 0, 2, what="men still to remove", index=place)
        for place in (8, 9)
    ]
    if action == "r" or any(removals_due):
        place = 3 if action == "r" else 8 if removals_due[0] else 9
        raise InputError(
            fields[place], "a removal is still due; give the position after the whole move", place
        )
    for place in range(10, 14):
        read_whole(fields[place], -1, 63, what="a point of the last mill", index=place)
    read_whole(fields[14], 0, (1 << 64) - 1, what="a mask of mills", index=14)
    places = (0, 1, 5, 7, 15, 16)
    position = parse_six([fields[place] for place in places], places, rules)
    for colour, mask, place in zip(COLOURS, position.men, (4, 6)):
        stated = read_whole(fields[place], 0, MEN_PER_SIDE, what=f"{colour}'s men", index=place)
        if stated != mask.bit_count():
            raise InputError(
                fields[place],
                f"expected {mask.bit_count()}, the number of {colour}'s men on the board",
                place,
            )
    return position


def format_seventeen(position: Position) -> str:
    """Return the position in the 17 fields of Sanmill, with no removal due.

    The four last-mill fields are 0, "none" in Sanmill's old numbering of squares. Sanmill reads -1
    only with a token ``ids:nodes``, which its older versions do not know.
    """
    required_position(position)
    white, black = position.men
    placing = position.hands[position.side] > 0
    phase = "o" if position.outcome() else "p" if placing else "m"
    return (
        f"{format_board(position.men)} {SIDES[position.side]} {phase} {'p' if placing else 's'} "
        f"{white.bit_count()} {position.hands[WHITE]} {black.bit_count()} {position.hands[BLACK]} "
        f"0 0 0 0 0 0 0 {_counters(position)}"
    )


def _parse_board(text: str, place: int) -> tuple[int, int]:
    """Return White's and Black's masks from the text of the three rings."""
    rings = text.split("/")
    if len(rings) != RINGS or any(len(ring) != ANGLES for ring in rings):
        raise InputError(text, "expected three rings of eight points, separated by '/'", place)
    white = black = 0
    for point, man in enumerate("".join(rings)):
        if man == WHITE_MAN:
            white |= 1 << point
        elif man == BLACK_MAN:
            black |= 1 << point
        elif man != EMPTY:
            raise InputError(
                man,
                f"expected O, @ or * at {NAMES[point]}, character {point % ANGLES + 1} of "
                f"ring {point // ANGLES + 1}",
                place,
            )
    return white, black


def format_moves(moves: Iterable[Move]) -> str:
    """Return moves as tokens, separated by spaces."""
    return " ".join(str(read_move(move)) for move in moves)
