"""The positions that the steps use, as text.

All are legal under every rule set; they come from random games.
"""

from __future__ import annotations

from merels.engine.game.notation import START as START

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Some placements close a mill, most do not."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Seven men on each side, six moves."""
SHUFFLE = "e4-e3 d1-a1 e3-e4 a1-d1".split()
"""Moves that lead from it back to it, and close no mill under any rule set."""
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
