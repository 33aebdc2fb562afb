"""Root ranking: the order that tablebases put the moves of a position in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

from merels.engine.game.board import ALL_POINTS, SIZE
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FLYING_MEN
from merels.engine.tablebase.probe import MAX_TABLE_DEPTH, Known, Tables

NEAR = 32
"""Plies before a draw by counting from which on a side that loses may wait for it."""


class Choice(NamedTuple):
    """A move with its value for the side that plays it.

    ``value`` (-1, 0, 1) is proven where it is ``certain``; otherwise a limit on plies or a
    repetition may turn the win or loss into a draw. ``depth`` is the plies to the next removal or
    the end (depth to conversion), where it is known. ``nearly_drawn`` is a loss that a limit on
    plies or a repetition may soon turn into a draw.
    """

    move: Move
    value: int
    depth: int | None
    certain: bool
    nearly_drawn: bool = False


class Ranking(NamedTuple):
    """The moves of a position in groups of equal ones, the best group first.

    ``hits`` is the number of moves looked up.
    """

    groups: tuple[tuple[Choice, ...], ...]
    hits: int

    @property
    def settled(self) -> bool:
        """Whether all moves are certain wins with the same known depth."""
        choices = [choice for group in self.groups for choice in group]
        depth = choices[0].depth
        return depth is not None and depth <= MAX_TABLE_DEPTH and all(
            choice.value > 0 and choice.certain and choice.depth == depth for choice in choices
        )


def rank_moves(
    tables: Tables, position: Position, among: Sequence[Move], lines: int = 1,
    interrupted: Callable[[], bool] = lambda: False,
) -> Ranking | None:
    """Rank some moves; None where the tables do not know them all.

    Only the best groups are kept, with at least ``lines`` moves together. A certain win goes
    before one that is not, and among equals the shortest, where depths are kept. Draws are left to
    the search, and so are losses but for those that are nearly drawn, which go first: its choice is
    harder for an opponent that errs than the longest loss, few replies that hold, or waiting for a
    distant limit on plies. ``interrupted`` is as in `values_of_moves`.
    """
    choices = values_of_moves(tables, position, set(among), interrupted)
    if not choices:
        return None
    groups: list[tuple[Choice, ...]] = []
    for value in (1, 0, -1):
        groups += _groups([choice for choice in choices if choice.value == value])
    if groups[0][0].value < 0 and not all(choice.certain for choice in choices):
        # The game is lost for certain only if every move is.
        groups = [tuple(c._replace(certain=False) for c in group) for group in groups]
    while sum(map(len, groups[:-1])) >= lines:
        groups.pop()
    return Ranking(tuple(groups), len(choices))


def values_of_moves(
    tables: Tables, position: Position, among: Container[Move] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> list[Choice] | None:
    """The legal moves that are ``among`` some, or all; None where the tables do not know them.

    Once ``interrupted`` returns True, the moves looked up so far if one of them wins, or None.
    """
    recurring = recurring_keys(position)
    choices: list[Choice] = []
    for move, known in tables.moves(position):
        if among is None or move in among:
            if known is None:
                return None
            choices.append(_choice(tables, position, move, known, recurring))
        if interrupted():
            return choices if any(choice.value > 0 for choice in choices) else None
    return choices


def recurring_keys(position: Position) -> set[int]:
    """The keys of the positions that draw the game when they occur once more.

    Not the present one: a winning side gets nearer to the end with every move, and never returns.
    """
    most = position.rules.repetition - 1
    if most < 1:
        return set()
    counts = Counter(position.history)
    return {key for key, times in counts.items() if times >= most and key != position.key}


def _choice(
    tables: Tables, position: Position, move: Move, known: Known, recurring: set[int]
) -> Choice:
    """A move with its value, in the light of the game so far.

    The tables know no repetition: a losing side that can repeat a position draws, and where it may
    do so later, the value is not certain. The search must find the move that leads there, so depths
    do not rank a losing side's moves.
    """
    after = position.play(move)
    if after.outcome() is not None:
        return Choice(move, known.value, known.depth, True)
    certain = tables.bounds(after) == (-known.value, -known.value)
    if move.removed or not recurring or not known.value:
        near = known.value < 0 and not certain and _is_near_limit(after)
        return Choice(move, known.value, known.depth, certain, near)
    if known.value > 0 and _may_repeat(after, recurring):
        return Choice(move, 0, None, True)
    loses = known.value < 0
    return Choice(move, known.value, None if loses else known.depth, False, loses)


def _may_repeat(position: Position, recurring: set[int]) -> bool:
    """Whether the side to move can draw by a step to a recurring position."""
    own, other = SIZE * position.side, SIZE * (1 - position.side)
    men, others = position.men[position.side], position.men[1 - position.side]
    for key in recurring:
        # A step changes the place of one man only: other keys cannot be reached.
        if key >> other & ALL_POINTS != others:
            continue
        left, entered = men & ~(key >> own), key >> own & ALL_POINTS & ~men
        if left.bit_count() == entered.bit_count() == 1:
            step = Move(left.bit_length() - 1, entered.bit_length() - 1)
            if position.is_legal(step):
                after = position.play(step)
                if after.key == key and after.outcome() is not None:
                    return True
    return False


def _is_near_limit(position: Position) -> bool:
    """Whether a draw by counting plies without a removal is near."""
    rules = position.rules
    limits = [rules.no_removal_plies]
    if position.total(WHITE) == position.total(BLACK) == FLYING_MEN:
        limits.append(rules.three_three_plies)
    return any(limit and limit - position.plies <= NEAR for limit in limits)


def _groups(choices: Sequence[Choice]) -> list[tuple[Choice, ...]]:
    """Moves of one value in groups of equal rank, the best first."""
    deep = all(choice.depth is not None for choice in choices)
    groups: dict[tuple[bool, int], list[Choice]] = {}
    for choice in choices:
        groups.setdefault(_rank(choice, deep), []).append(choice)
    return [tuple(groups[rank]) for rank in sorted(groups)]


def _rank(choice: Choice, deep: bool) -> tuple[bool, int]:
    """A move's rank among moves of one value, the lowest the best; ``deep``: all have depths."""
    if choice.value <= 0:
        return not choice.nearly_drawn, 0
    return not choice.certain, choice.depth if deep and choice.depth is not None else 0
