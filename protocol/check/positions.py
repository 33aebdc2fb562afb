"""The positions that the steps use, as text.

All are legal under every preset of the rules, and were found by playing at random.
"""

from __future__ import annotations

from merels.engine.notation import START, parse_position
from merels.engine.position import Position, Turn
from merels.engine.rules import Rules

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Some of the placements close a mill, most do not."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Seven men each, six turns."""
FLYING = "*****@@*/@@*O**@@/OO****@* w 0 0 0 26"
"""White has three men."""
FORCED = "@O@@****/@*@*****/*OOO@*** w 0 0 3 30"
"""White has one turn."""
TAKING = "**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32"
"""Every turn of White's closes a mill."""
WINNING = "@*O**O@*/**@**@*@/O*****@* b 0 0 8 32"
"""Black closes a mill and takes the third man, in any of several ways."""
FINISHED = {
    "White has two men": "****@*@O/@*@***@*/**O***@* w 0 0 0 38",
    "White is blocked": "**@OOO@*/**@O@*@*/***@**@* w 0 0 0 27",
}
GAME = "g1 d6 d2 a7 g4 d5 g7xd5 c5 e5 c4 e4 b6".split()
"""A game's first turns, one with a removal."""

__all__ = [
    "FINISHED", "FLYING", "FORCED", "GAME", "MOVING", "PLACING", "START", "TAKING", "WINNING",
    "shuffle",
]


def shuffle(start: str, rules: Rules) -> list[Turn]:
    """Four turns from a position of moving men that lead back to it, nothing being taken."""
    position = parse_position(start, rules)
    for first in position.legal_turns():
        after = position.play(first)
        for second in after.legal_turns():
            line = [first, second, _back(first), _back(second)]
            if first.taken or second.taken or not _plays_back(position, line):
                continue
            return line
    raise AssertionError("no turn can be taken back")


def _back(turn: Turn) -> Turn:
    assert turn.origin is not None
    return Turn(turn.to, turn.origin)


def _plays_back(position: Position, line: list[Turn]) -> bool:
    """Whether the turns are legal one after the other."""
    for turn in line:
        if not position.is_legal(turn):
            return False
        position = position.play(turn)
    return True
