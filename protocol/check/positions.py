"""The positions that the steps use, as text.

All are legal under every preset of the rules, and were found by playing at random.
"""

from __future__ import annotations

from merels.engine.game.notation import START, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Some of the placements close a mill, most do not."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Seven men each, six moves."""
FLYING = "*****@@*/@@*O**@@/OO****@* w 0 0 0 26"
"""White has three men."""
FORCED = "@O@@****/@*@*****/*OOO@*** w 0 0 3 30"
"""White has one move."""
TAKING = "**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32"
"""Every move of White's closes a mill."""
WINNING = "@*O**O@*/**@**@*@/O*****@* b 0 0 8 32"
"""Black closes a mill and takes the third man, in any of several ways."""
FINISHED = {
    "White has two men": "****@*@O/@*@***@*/**O***@* w 0 0 0 38",
    "White is blocked": "**@OOO@*/**@O@*@*/***@**@* w 0 0 0 27",
}
GAME = "g1 d6 d2 a7 g4 d5 g7xd5 c5 e5 c4 e4 b6".split()
"""A game's first moves, one with a removal."""

__all__ = [
    "FINISHED", "FLYING", "FORCED", "GAME", "MOVING", "PLACING", "START", "TAKING", "WINNING",
    "shuffle",
]


def shuffle(start: str, rules: Rules) -> list[Move]:
    """Four moves from a position of moving men that lead back to it, nothing being taken."""
    position = parse_position(start, rules)
    for first in position.legal_moves():
        after = position.play(first)
        for second in after.legal_moves():
            line = [first, second, _back(first), _back(second)]
            if first.removed or second.removed or not _plays_back(position, line):
                continue
            return line
    raise AssertionError("no move can be taken back")


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
