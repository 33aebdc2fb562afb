"""Texts of positions: six fields, or the 17 fields of Sanmill.

Malformed text raises `InputError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.common.errors import InputError, required_text
from merels.engine.common.messages import message
from merels.engine.common.numbers import read_whole
from merels.engine.game.board import (
    ANGLES,
    BLACK,
    BLACK_MAN,
    COLOURS,
    EMPTY,
    NAMES,
    RINGS,
    WHITE,
    WHITE_MAN,
    format_board,
)
from merels.engine.game.rules import MAXIMUM_PLIES, MEN_PER_SIDE

START = "********/********/******** w 9 9 0 1"
SIDES = "wb"
MAXIMUM_NUMBER = 1_000_000


class Fields(NamedTuple):
    """The fields of a position's text, as in `Position`."""

    men: tuple[int, int]
    hands: tuple[int, int]
    side: int
    plies: int
    number: int

    def __str__(self) -> str:
        """Return the six fields as text."""
        board, counts = format_board(self.men), counters(self.plies, self.number)
        return f"{board} {SIDES[self.side]} {self.hands[WHITE]} {self.hands[BLACK]} {counts}"


def read_fields(text: str) -> Fields:
    """Return the fields of a text with six fields, or with the 17 fields of Sanmill.

    An `InputError` about one field has that field's index, counted from 0.
    """
    fields = required_text(text, "the 6 fields of a position").split()
    if len(fields) == 6:
        return read_six(fields, range(6))
    if len(fields) >= 17:
        return _read_seventeen(fields)
    expected = "expected the 6 or 17 fields of a position, found {count}"
    raise InputError(text, message(expected, count=len(fields)))


def counters(plies: int, number: int) -> str:
    """Return the last two fields, capped at the values that `read_fields` accepts."""
    return f"{min(plies, MAXIMUM_PLIES)} {min(number, MAXIMUM_NUMBER)}"


def read_six(fields: Sequence[str], places: Sequence[int]) -> Fields:
    """Return the values of six fields; ``places`` are their indices in the text, for errors."""
    board, side, white_hand, black_hand, plies, number = fields
    men = _read_board(board, places[0])
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
                message(
                    "expected at most {most} men for {side}, found {board} on the board and "
                    "{hand} in hand",
                    most=MEN_PER_SIDE, side=colour, board=mask.bit_count(), hand=hand,
                ),
                place,
            )
    return Fields(
        men,
        hands,
        SIDES.index(side),
        read_whole(plies, 0, MAXIMUM_PLIES, what="plies without a removal", index=places[4]),
        read_whole(number, 1, MAXIMUM_NUMBER, what="a move number", index=places[5]),
    )


def _read_seventeen(fields: Sequence[str]) -> Fields:
    """Return the values of Sanmill's 17 fields.

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
    values = read_six([fields[place] for place in places], places)
    for colour, mask, place in zip(COLOURS, values.men, (4, 6)):
        stated = read_whole(fields[place], 0, MEN_PER_SIDE, what=f"{colour}'s men", index=place)
        if stated != mask.bit_count():
            raise InputError(
                fields[place],
                f"expected {mask.bit_count()}, the number of {colour}'s men on the board",
                place,
            )
    return values


def _read_board(text: str, place: int) -> tuple[int, int]:
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
                message(
                    "expected O, @ or * at {point}, character {number} of ring {ring}",
                    point=NAMES[point], number=point % ANGLES + 1, ring=point // ANGLES + 1,
                ),
                place,
            )
    return white, black
