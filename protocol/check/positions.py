"""The positions that the steps use, as text.

All are legal under every rule set; they come from random games.
"""

from __future__ import annotations

from merels.engine.game.notation import START, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Some placements close a mill, most do not."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Seven men on each side, six moves."""
FLYING = "*****@@*/@@*O**@@/OO****@* w 0 0 0 26"
"""White has three men."""
FORCED = "@O@@****/@*@*****/*OOO@*** w 0 0 3 30"
"""White has one move."""
REMOVALS = "**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32"
"""Every move closes a mill."""
WINNING = "@*O**O@*/**@**@*@/O*****@* b 0 0 8 32"
"""Black can close a mill in several ways and remove White's third man."""
FINISHED = {
    "White has two men": "****@*@O/@*@***@*/**O***@* w 0 0 0 38",
    "White is blocked": "**@OOO@*/**@O@*@*/***@**@* w 0 0 0 27",
}
GAME = "g1 d6 d2 a7 g4 d5 g7xd5 c5 e5 c4 e4 b6".split()
"""The first moves of a game, one of them with a removal."""

__all__ = [
    "FINISHED", "FLYING", "FORCED", "GAME", "MOVING", "PLACING", "REMOVALS", "START",
    "WINNING", "shuffle",
]


def shuffle(start: str, rules: Rules) -> list[Move]:
    """Four moves without a removal that lead back to a position in which men are moved."""
    position = parse_position(start, rules)
    for first in position.legal_moves():
        after = position.play(first)
        for second in after.legal_moves():
            line = [first, second, _back(first), _back(second)]
            if first.removed or second.removed or not _plays_back(position, line):
                continue
            return line
    raise AssertionError("no move can be reversed")


def _back(move: Move) -> Move:
    assert move.origin is not None
    return Move(move.to, move.origin)


def _plays_back(position: Position, line: list[Move]) -> bool:
    """Whether the moves are legal one after the other."""
    for move in line:
        if not position.is_legal(move):
            return False
        position = position.play(move)
    return True
