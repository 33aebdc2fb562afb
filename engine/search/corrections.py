"""Corrections: placing positions in which short searches blunder, each with a move that does not.

`merels.engine.training.corrections` makes the file of this package. The moves keep the value that
tables of perfect play prove, under the rules of `mill` and of `morris`.

The payload of the file is a sorted list of 64-bit numbers, little-endian. Bits 0 to 4 of a number
are the point of the removed man, or 31; bits 5 to 9 the point of the placed man; the other bits
the position's key. All symmetric images of a position have one number, with the move for the image
that has the least key.
"""

from __future__ import annotations

import os
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache

from merels.engine.common.data_file import DataFile
from merels.engine.common.errors import InputError
from merels.engine.game.board import ANGLES, RINGS, SYMMETRIES
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import FIELDS, Rules, preset

PATH = os.path.join(os.path.dirname(__file__), "corrections.bin")
FILE = DataFile("corrections", b"MERELSCO", 1)
VARIANTS = ("morris", "mill")
"""Rule sets under which all moves of the file keep the value."""

_POINT_BITS = 5
_NO_POINT = 31
"""Number for no point. All its bits are set, so it is also the mask of a point's bits."""
_RING_MASK = (1 << ANGLES) - 1


def _ternary(symmetry: tuple[int, ...], ring: int) -> tuple[int, ...]:
    """Return for each set of men on a ring the base-3 number of its image."""
    numbers = [0]
    for angle in range(ANGLES):
        power = 3 ** symmetry[ring * ANGLES + angle]
        numbers += [number + power for number in numbers]
    return tuple(numbers)


@cache
def _images() -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the tables of `_ternary` for each symmetry and ring."""
    return tuple(
        tuple(_ternary(symmetry, ring) for ring in range(RINGS)) for symmetry in SYMMETRIES
    )


def key_of(position: Position) -> tuple[int, int]:
    """Return a key common to all symmetric images, and the index of a symmetry to its image.

    The key is the least base-3 number of an image (1 for a man of the side to move, 2 for an
    opponent's), times 100, plus the men in hand as two decimal digits.
    """
    own, opponent = position.men[position.side], position.men[1 - position.side]
    split = [
        (own >> ring * ANGLES & _RING_MASK, opponent >> ring * ANGLES & _RING_MASK)
        for ring in range(RINGS)
    ]
    image, symmetry = min(
        (
            sum(
                table[own] + 2 * table[opponent]
                for table, (own, opponent) in zip(tables, split, strict=True)
            ),
            index,
        )
        for index, tables in enumerate(_images())
    )
    hands = position.hands
    return 100 * image + 10 * hands[position.side] + hands[1 - position.side], symmetry


def number_of(position: Position, move: Move) -> int:
    """Return the number that stores a move for a position; ``move`` removes at most one man."""
    key, symmetry = key_of(position)
    image = SYMMETRIES[symmetry]
    removed = image[move.removed[0]] if move.removed else _NO_POINT
    return (key << _POINT_BITS | image[move.to]) << _POINT_BITS | removed


def pack(numbers: Iterable[int]) -> bytes:
    """Return the content of a file with these numbers."""
    return FILE.pack(_little_endian(array("Q", sorted(numbers))).tobytes())


def unpack(data: bytes) -> array[int]:
    """Return the numbers in a file's content; `ValueError` states why the file is invalid."""
    return _little_endian(array("Q", FILE.unpack(data)))


def _little_endian(numbers: array[int]) -> array[int]:
    """Return the numbers with their bytes swapped on a big-endian machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@cache
def load(path: str = PATH) -> array[int]:
    """Return the numbers of a file; `InputError` if the file cannot be used."""
    data = FILE.read(path)
    try:
        return unpack(data)
    except ValueError as error:
        raise InputError(str(path), f"{error}; reinstall merels") from None


def ensure() -> None:
    """Load the package's file and build the tables of images, so that a search need not."""
    load()
    _images()


@cache
def are_valid_for(rules: Rules) -> bool:
    """Return whether ``rules`` are those of the file, apart from limits that draw the game."""
    proven = preset(VARIANTS[0])
    return all(
        getattr(rules, field.attribute) == getattr(proven, field.attribute)
        for field in FIELDS if field.choices  # The other fields are limits.
    )


def corrected_move(position: Position, numbers: array[int] | None = None) -> Move | None:
    """Return the move of a position's correction, or None if it has none.

    ``numbers`` are those of the package's file if None.
    """
    if not position.hands[position.side] or not are_valid_for(position.rules):
        return None
    if numbers is None:
        numbers = load()
    key, symmetry = key_of(position)
    index = bisect_left(numbers, key << 2 * _POINT_BITS)
    if index == len(numbers) or numbers[index] >> 2 * _POINT_BITS != key:
        return None
    to, removed = (numbers[index] >> shift & _NO_POINT for shift in (_POINT_BITS, 0))
    image = SYMMETRIES[symmetry]
    return Move(
        None, image.index(to), () if removed == _NO_POINT else (image.index(removed),)
    )
