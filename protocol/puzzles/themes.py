"""Themes of puzzles, found by rules on the position and its solution."""

from __future__ import annotations

from functools import lru_cache

from merels.engine.game.board import ALL_POINTS, NEIGHBOURS, PARTNERS, points_of
from merels.engine.game.position import Move, Position
from merels.protocol.puzzles.puzzle import Puzzle

PHASES = ("placing", "moving", "flying")
"""Every puzzle has exactly one of these themes."""
THEMES = (
    *PHASES, "draw", "mill", "removal", "quiet", "block", "fork", "double", "trap", "long",
)
"""All themes, in the order in which they are listed."""
_LONG = 5
"""Minimum length of a solution with the theme ``long``, in plies."""


def phase_of(position: Position) -> str:
    """Return a position's phase; ``flying`` if either side may fly."""
    if any(position.hands):
        return "placing"
    return "flying" if position.flies(0) or position.flies(1) else "moving"


@lru_cache(maxsize=4096)
def themes_of(puzzle: Puzzle) -> tuple[str, ...]:
    """Return a puzzle's themes in the order of `THEMES`; FORMAT.md defines them."""
    position, move = puzzle.position, puzzle.line[0]
    side = position.side
    after = position.play(move)
    found = {phase_of(position)}
    if puzzle.value == 0:
        found.add("draw")
    if move.removed:
        found.add("mill")
        if puzzle.holding == 1 and _removals(position, move) > 1:
            found.add("removal")
    else:
        found.add("quiet")
        if _threats(after, side) > 1 >= _threats(position, side):
            found.add("fork")
    if _blocks_mill(position, move.to):
        found.add("block")
    if not has_double_mill(position, side) and _reaches_double_mill(puzzle):
        found.add("double")
    end = _end(puzzle)
    if (outcome := end.outcome()) is not None and outcome.reason == "blocked":
        found.add("trap")
    if len(puzzle.line) >= _LONG:
        found.add("long")
    return tuple(theme for theme in THEMES if theme in found)


def _removals(position: Position, move: Move) -> int:
    """Return the number of legal moves with the origin and the destination of ``move``."""
    return sum((legal.origin, legal.to) == (move.origin, move.to)
               for legal in position.legal_moves())


def _end(puzzle: Puzzle) -> Position:
    """Return the position after the solution."""
    position = puzzle.position
    for move in puzzle.line:
        position = position.play(move)
    return position


def _closers(position: Position, side: int, to: int, partners: int) -> int:
    """Return the mask of the men of ``side``, without ``partners``, that could move to ``to``."""
    men = position.men[side] & ~partners
    return men if position.flies(side) else men & NEIGHBOURS[to]


def _may_close(position: Position, side: int, to: int) -> bool:
    """Return whether ``side`` could close a mill on an empty point if it were to move."""
    for partners in PARTNERS[to]:
        if position.men[side] & partners == partners:
            if position.hands[side] or _closers(position, side, to, partners):
                return True
    return False


def _threats(position: Position, side: int) -> int:
    """Return the number of points on which ``side`` could close a mill if it were to move."""
    empty = ALL_POINTS & ~(position.men[0] | position.men[1])
    return sum(_may_close(position, side, point) for point in points_of(empty))


def _blocks_mill(position: Position, to: int) -> bool:
    """Return whether the opponent could close a mill on ``to``."""
    return _may_close(position, 1 - position.side, to)


def has_double_mill(position: Position, side: int) -> bool:
    """Return whether a man of ``side`` can leave one mill to close another.

    Moving the man back and forth closes a mill on each move.
    """
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


def _reaches_double_mill(puzzle: Puzzle) -> bool:
    """Return whether a move of the solution makes a double mill."""
    position = puzzle.position
    for step, move in enumerate(puzzle.line):
        position = position.play(move)
        if step % 2 == 0 and has_double_mill(position, puzzle.position.side):
            return True
    return False
