"""Themes of puzzles, found by rules on the position and its solution."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

from merels.engine.game.board import ALL_POINTS, NEIGHBOURS, PARTNERS, points_of
from merels.engine.game.position import Move, Position
from merels.engine.tablebase.verdict import PHASES, phase_of
from merels.protocol.puzzles.puzzle import Puzzle

THEMES = (
    *PHASES, "draw", "mill", "removal", "quiet", "block", "fork", "double", "trap", "long",
)
"""All themes, in the order in which they are listed; every puzzle has one of `PHASES`."""
_LONG_PLIES = 5
"""Minimum length of a solution with the theme ``long``, in plies."""


@lru_cache(maxsize=4096)
def themes_of(puzzle: Puzzle) -> tuple[str, ...]:
    """Return a puzzle's themes in the order of `THEMES`; FORMAT.md defines them."""
    move, side = puzzle.line[0], puzzle.position.side
    positions = list(accumulate(puzzle.line, Position.play, initial=puzzle.position))
    position = positions[0]
    themes = {phase_of(position)}
    if puzzle.value == 0:
        themes.add("draw")
    if move.removed:
        themes.add("mill")
        if puzzle.holding == 1 and _removals(position, move) > 1:
            themes.add("removal")
    else:
        themes.add("quiet")
        if _threats(positions[1], side) > 1 >= _threats(position, side):
            themes.add("fork")
    if _may_close(position, 1 - side, move.to):
        themes.add("block")
    after_own_moves = positions[1::2]
    if not has_double_mill(position, side) and any(
        has_double_mill(each, side) for each in after_own_moves
    ):
        themes.add("double")
    if (outcome := positions[-1].outcome()) is not None and outcome.reason == "blocked":
        themes.add("trap")
    if len(puzzle.line) >= _LONG_PLIES:
        themes.add("long")
    return tuple(theme for theme in THEMES if theme in themes)


def _removals(position: Position, move: Move) -> int:
    """Return the number of legal moves with the origin and the destination of ``move``."""
    return sum((legal.origin, legal.to) == (move.origin, move.to)
               for legal in position.legal_moves())


def _may_close(position: Position, side: int, to: int) -> bool:
    """Return whether ``side`` could close a mill on an empty point if it were to move."""
    men = position.men[side]
    movable = men if position.flies(side) else men & NEIGHBOURS[to]
    return any(
        men & partners == partners and bool(position.hands[side] or movable & ~partners)
        for partners in PARTNERS[to]
    )


def _threats(position: Position, side: int) -> int:
    """Return the number of points on which ``side`` could close a mill if it were to move."""
    empty = ALL_POINTS & ~(position.men[0] | position.men[1])
    return sum(_may_close(position, side, point) for point in points_of(empty))


def has_double_mill(position: Position, side: int) -> bool:
    """Return whether a man of ``side`` can leave one mill to close another."""
    if position.hands[side]:
        return False
    men = position.men[side]
    empty = ALL_POINTS & ~(position.men[0] | position.men[1])
    for origin in points_of(men):
        if not any(men & partners == partners for partners in PARTNERS[origin]):
            continue
        others = men & ~(1 << origin)
        for to in points_of(empty & NEIGHBOURS[origin]):
            if any(others & partners == partners for partners in PARTNERS[to]):
                return True
    return False
