"""Root ranking: the order of a position's moves by their tablebase values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

from merels.engine.game.board import ALL_POINTS, SIZE
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import FLYING_MEN
from merels.engine.tablebase.probe import MAX_TABLE_DEPTH, TableValue, Tables

NEAR = 32
"""A losing side tries to reach a draw by a limit on plies that is at most this many plies away."""


class Choice(NamedTuple):
    """A move with its value for the side that plays it.

    ``value`` is -1, 0 or 1. Unless it is ``certain``, a limit on plies or a repetition may turn
    the win or loss into a draw. ``depth`` is the depth to conversion (plies to the next removal or
    the end); None for a draw, and if it is unknown. ``nearly_drawn`` marks a loss that a limit on
    plies or a repetition may soon turn into a draw. ``repeats`` marks a draw by a move that ends
    the game or repeats one of its positions.
    """

    move: Move
    value: int
    depth: int | None
    certain: bool
    nearly_drawn: bool = False
    repeats: bool = False


class Ranking(NamedTuple):
    """The moves of a position in groups of equal rank, the best group first.

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
    interrupted: Callable[[], bool] = lambda: False, *, equal_wins: bool = False,
) -> Ranking | None:
    """Return the ranked moves of ``among``; None if the value of one of them is unknown.

    The result has only the best groups, enough for at least ``lines`` moves. Certain wins rank
    before uncertain ones and, with depths, short wins before long ones. Nearly drawn losses rank
    before other losses. Draws that repeat a position or end the game rank after other draws: while
    the game goes on, the opponent may err. The search chooses among moves of one rank. For a
    fallible opponent, its choice is harder to answer than the longest loss, the move with the
    fewest replies that keep the value, or waiting for a distant limit on plies. ``interrupted`` is
    as in `values_of_moves`. ``equal_wins``: all wins have one rank.
    """
    choices = values_of_moves(tables, position, set(among), interrupted)
    if not choices:
        return None
    groups: list[tuple[Choice, ...]] = []
    for value in (1, 0, -1):
        group = [choice for choice in choices if choice.value == value]
        groups += [tuple(group)] if group and value > 0 and equal_wins else _groups(group)
    if groups[0][0].value < 0 and not all(choice.certain for choice in choices):
        # One uncertain loss makes the position's loss uncertain.
        groups = [tuple(c._replace(certain=False) for c in group) for group in groups]
    while sum(map(len, groups[:-1])) >= lines:
        groups.pop()
    return Ranking(tuple(groups), len(choices))


def values_of_moves(
    tables: Tables, position: Position, among: Container[Move] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> list[Choice] | None:
    """Return the legal moves in ``among`` (None: all) with their values; None if one is unknown.

    Once ``interrupted`` returns True, return the moves looked up so far if one of them wins or
    draws, else None.
    """
    recurring = recurring_keys(position)
    choices: list[Choice] = []
    for move, stored in tables.moves(position):
        if among is None or move in among:
            if stored is None:
                return None
            choices.append(_choice(tables, position, move, stored, recurring))
        if interrupted():
            # A proven draw is worth more than a move that a search without time would choose.
            return choices if any(choice.value >= 0 for choice in choices) else None
    return choices


def recurring_keys(position: Position) -> set[int]:
    """Return the keys of the earlier positions that draw the game when they occur once more.

    The current position is excluded: it recurs only if the winning side makes no progress.
    """
    most = position.rules.repetition - 1
    if most < 1:
        return set()
    counts = Counter(position.history)
    return {key for key, times in counts.items() if times >= most and key != position.key}


def _choice(
    tables: Tables, position: Position, move: Move, stored: TableValue, recurring: set[int]
) -> Choice:
    """Return a move with its table value, corrected for the game's repetitions and plies.

    A losing side that can repeat a position now draws; if it may do so later, the value is
    uncertain. A losing move then gets no depth, so that the search looks for the repetition.
    """
    after = position.play(move)
    outcome = after.outcome()
    if stored.value == 0:
        over = outcome is not None
        certain = over or tables.bounds(after) == (0, 0)
        repeats = over or after.key in position.history
        return Choice(move, 0, stored.depth, certain, repeats=repeats)
    if outcome is not None:
        return Choice(move, stored.value, stored.depth, True)
    certain = tables.bounds(after) == (-stored.value, -stored.value)
    if move.removed or not recurring:
        near = stored.value < 0 and not certain and _is_near_limit(after)
        return Choice(move, stored.value, stored.depth, certain, near)
    if stored.value > 0 and _may_repeat(after, recurring):
        return Choice(move, 0, None, True)
    loses = stored.value < 0
    return Choice(move, stored.value, None if loses else stored.depth, False, loses)


def _may_repeat(position: Position, recurring: set[int]) -> bool:
    """Return whether a step of the side to move draws the game by a key in ``recurring``."""
    own_shift, opponent_shift = SIZE * position.side, SIZE * (1 - position.side)
    own, opponent = position.men[position.side], position.men[1 - position.side]
    for key in recurring:
        # A position is one step away only if it differs in the place of one own man.
        if key >> opponent_shift & ALL_POINTS != opponent:
            continue
        own_then = key >> own_shift & ALL_POINTS
        origin, to = own & ~own_then, own_then & ~own
        if origin.bit_count() == to.bit_count() == 1:
            step = Move(origin.bit_length() - 1, to.bit_length() - 1)
            if position.is_legal(step):
                after = position.play(step)
                if after.key == key and after.outcome() is not None:
                    return True
    return False


def _is_near_limit(position: Position) -> bool:
    """Return whether at most `NEAR` plies are left to a limit on plies without a removal."""
    rules = position.rules
    limits = [rules.no_removal_plies]
    if position.total(WHITE) == position.total(BLACK) == FLYING_MEN:
        limits.append(rules.three_three_plies)
    return any(limit and limit - position.plies <= NEAR for limit in limits)


def _groups(choices: Sequence[Choice]) -> list[tuple[Choice, ...]]:
    """Return moves of one value in groups of equal rank, the best first."""
    by_depth = all(choice.depth is not None for choice in choices)
    groups: dict[tuple[bool, int], list[Choice]] = {}
    for choice in choices:
        groups.setdefault(_rank(choice, by_depth), []).append(choice)
    return [tuple(groups[rank]) for rank in sorted(groups)]


def _rank(choice: Choice, by_depth: bool) -> tuple[bool, int]:
    """Return a move's rank among moves of one value; the best has the lowest.

    ``by_depth``: rank wins by depth, too.
    """
    if choice.value == 0:
        return choice.repeats, 0
    if choice.value < 0:
        return not choice.nearly_drawn, 0
    return not choice.certain, choice.depth if by_depth and choice.depth is not None else 0
