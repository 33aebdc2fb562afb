"""The board: points, lines, neighbours and symmetries.

A point is a number from 0 to 23: ``8 * ring + angle``, rings from the inner (0) to the outer (2),
angles clockwise from the top centre (0). Even angles are middles of a side, odd angles are corners.
A set of points is a mask whose bit ``p`` is point ``p``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

WHITE, BLACK = 0, 1
COLOURS = ("White", "Black")
RINGS = 3
ANGLES = 8
SIZE = RINGS * ANGLES
ALL_POINTS = (1 << SIZE) - 1

NAMES: tuple[str, ...] = tuple(
    "d5 e5 e4 e3 d3 c3 c4 c5 d6 f6 f4 f2 d2 b2 b4 b6 d7 g7 g4 g1 d1 a1 a4 a7".split()
)
POINTS: dict[str, int] = {name: point for point, name in enumerate(NAMES)}


def point_at(ring: int, angle: int) -> int:
    """Return the point at an angle of a ring; the angle is taken modulo 8."""
    return ANGLES * ring + angle % ANGLES


LINES: tuple[tuple[int, int, int], ...] = tuple(
    (point_at(ring, middle - 1), point_at(ring, middle), point_at(ring, middle + 1))
    for ring in range(RINGS)
    for middle in range(0, ANGLES, 2)
) + tuple(
    (point_at(0, middle), point_at(1, middle), point_at(2, middle))
    for middle in range(0, ANGLES, 2)
)
"""The 16 lines of three, each with its middle point second: 12 sides, then 4 cross lines."""


def mask_of(points: Iterable[int]) -> int:
    """Return the mask of some points."""
    return sum(1 << point for point in points)


def points_of(mask: int) -> Iterator[int]:
    """Yield the points of a mask in rising order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


NEIGHBOURS: tuple[int, ...] = tuple(
    sum(
        1 << to
        for a, b, c in LINES
        for origin, to in ((a, b), (b, a), (b, c), (c, b))
        if origin == point
    )
    for point in range(SIZE)
)
"""For each point, the mask of its neighbours along lines."""

LINE_MASKS: tuple[int, ...] = tuple(mask_of(line) for line in LINES)

PARTNERS: tuple[tuple[int, ...], ...] = tuple(
    tuple(mask & ~(1 << point) for mask in LINE_MASKS if mask >> point & 1) for point in range(SIZE)
)
"""For each point, one mask for each of its two lines: the line's other two points."""


def in_mills(men: int) -> int:
    """Return the mask of the men in mills; ``men`` are one side's."""
    closed = 0
    for line in LINE_MASKS:
        if men & line == line:
            closed |= line
    return closed


WHITE_MAN, BLACK_MAN, EMPTY = "O@*"


def format_board(men: tuple[int, int]) -> str:
    """Return the board as three rings of eight characters, the inner ring first.

    ``men`` are White's and Black's masks.
    """
    text = "".join(
        WHITE_MAN if men[0] >> point & 1 else BLACK_MAN if men[1] >> point & 1 else EMPTY
        for point in range(SIZE)
    )
    return "/".join(text[start : start + ANGLES] for start in range(0, SIZE, ANGLES))


SYMMETRIES: tuple[tuple[int, ...], ...] = tuple(
    tuple(
        point_at(2 - ring if swapped else ring, quarter * 2 + (-angle if mirrored else angle))
        for ring in range(RINGS)
        for angle in range(ANGLES)
    )
    for swapped in (False, True)
    for mirrored in (False, True)
    for quarter in range(4)
)
"""The 16 symmetries: each maps point ``p`` to ``symmetry[p]``; the first is the identity."""


def least_image(men: tuple[int, int]) -> tuple[int, int]:
    """Return the least image of both sides' men under the symmetries, a key of all images."""
    first, second = (tuple(points_of(mask)) for mask in men)
    return min(
        (mask_of(symmetry[p] for p in first), mask_of(symmetry[p] for p in second))
        for symmetry in SYMMETRIES
    )


_DIAGRAM = """\
7  a7----------d7----------g7
   |           |           |
6  |   b6------d6------f6  |
   |   |       |       |   |
5  |   |   c5--d5--e5  |   |
   |   |   |       |   |   |
4  a4--b4--c4      e4--f4--g4
   |   |   |       |   |   |
3  |   |   c3--d3--e3  |   |
   |   |       |       |   |
2  |   b2------d2------f2  |
   |           |           |
1  a1----------d1----------g1
   a   b   c   d   e   f   g"""
_EMPTY_POINT = "·"


def draw_board(men: tuple[int, int]) -> str:
    """Return a diagram of the board in 14 lines: ``O`` White, ``@`` Black, ``·`` empty.

    ``men`` are White's and Black's masks.
    """
    diagram = _DIAGRAM
    for name, point in POINTS.items():
        man = _EMPTY_POINT
        if men[0] >> point & 1:
            man = WHITE_MAN
        elif men[1] >> point & 1:
            man = BLACK_MAN
        # A man is one character shorter than a name: double the next character to keep the columns.
        for following in "- ":
            diagram = diagram.replace(name + following, man + following + following)
        diagram = diagram.replace(name, man)
    return diagram
