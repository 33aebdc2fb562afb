"""Positions and moves that the steps use, as text.

All positions are legal under every rule set; they come from random games.
"""

from __future__ import annotations

from collections.abc import Iterator

from merels.engine.game.notation import START as START
from merels.engine.game.rules import Rules

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Placing phase: some placements close a mill."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Moving phase: seven men on each side, six legal moves."""
SHUFFLE = "e4-e3 d1-a1 e3-e4 a1-d1".split()
"""Moves from `MOVING` that lead back to it and close no mill under any rule set."""
FLYING = "*****@@*/@@*O**@@/OO****@* w 0 0 0 26"
"""Flying phase: White to move has three men."""
FORCED = "@O@@****/@*@*****/*OOO@*** w 0 0 3 30"
"""White has exactly one legal move."""
REMOVALS = "**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32"
"""Every legal move closes a mill."""
WINNING = "@*O**O@*/**@**@*@/O*****@* b 0 0 8 32"
"""Black wins at once: several moves close a mill and leave White with two men."""
FINISHED = {
    "White has two men": "****@*@O/@*@***@*/**O***@* w 0 0 0 38",
    "White is blocked": "**@OOO@*/**@O@*@*/***@**@* w 0 0 0 27",
}
"""Positions in which the game is over, by the reason."""
_THREE = "O*@*****/O*******/@*O***@* w 0 0 {} 30"
"""Three men against three, after a number of plies without a removal."""
_MOST_SHUFFLES = 20
"""Maximum number of times that `drawn_games` repeats `SHUFFLE`."""
GAME = "g1 d6 d2 a7 g4 d5 g7xd5 c5 e5 c4 e4 b6".split()
"""The first moves of a game, one of them with a removal."""
RULE_MOVES = (
    (START, FLYING, ("f2-e4", "f2-f4")),
    (START, "@@*****@/@@*****@/**O*OOO* w 0 0 0 20", ("g4-g1xd6", "g4-g1")),
    (MOVING, "O**@*@**/*O*****O/O**@*@** w 3 3 0 7", ("d6xa1", "d6xa1xc3")),
)
"""A position of another phase, a position, and moves of which each rule set allows one: a flight or
a step, a removal of one of the men that are all in mills or none, one man for two mills or two."""


def drawn_games(rules: Rules) -> Iterator[tuple[str, str, list[str]]]:
    """Yield a rule field by which a game is drawn, a position, and moves that lead to the draw."""
    shuffles, limit = rules.repetition - 1, rules.no_removal_plies
    if 0 < shuffles <= _MOST_SHUFFLES and not 0 < limit <= len(SHUFFLE) * shuffles:
        yield "Repetition", MOVING, SHUFFLE * shuffles
    if limit:
        yield "NoRemovalPlies", MOVING.replace(" 0 14", f" {limit - 1} 14"), SHUFFLE[:1]
    if rules.three_three_plies:
        yield "ThreeThreePlies", _THREE.format(rules.three_three_plies - 1), ["d5-c5"]
