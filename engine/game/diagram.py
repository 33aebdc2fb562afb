"""The board drawn in characters."""

from __future__ import annotations

from merels.engine.game.board import BLACK_MAN, POINTS, WHITE_MAN
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position

_EMPTY_POINT = "·"
_DRAWING = """\
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
"""
_FILES = "   a   b   c   d   e   f   g"


def draw(position: Position) -> str:
    """The board with its men, ``O`` White and ``@`` Black, men in hand and the side to move."""
    drawing = _DRAWING
    for name, point in POINTS.items():
        man = _EMPTY_POINT
        if position.men[WHITE] >> point & 1:
            man = WHITE_MAN
        elif position.men[BLACK] >> point & 1:
            man = BLACK_MAN
        # A point's two letters shrink to one man; the line behind it grows by one.
        for behind in "- ":
            drawing = drawing.replace(name + behind, man + behind + behind)
        drawing = drawing.replace(name, man)
    hands = f"in hand: White {position.hands[WHITE]}, Black {position.hands[BLACK]}"
    return f"{drawing}{_FILES}\n{COLOURS[position.side]} to move; {hands}"
