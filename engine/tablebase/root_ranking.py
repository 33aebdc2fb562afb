"""Root ranking: the order of a position's moves by their tablebase values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import decode_move
from merels.engine.game.position import Move, Position
from merels.engine.tablebase.probe import MAX_TABLE_DEPTH, MoveRow, Tables


class Choice(NamedTuple):
    """A move with its value for the side that plays it.

    ``value`` is -1, 0 or 1. Unless it is ``certain``, a limit on plies or a repetition may turn
    the win or loss into a draw. ``depth`` is the depth to conversion (plies to the next removal or
    the end); None for a draw, and if it is unknown. ``nearly_drawn`` marks a loss that a limit on
    plies or a repetition may soon turn into a draw. ``repeats`` marks a draw by a move that ends
    the game or repeats one of its positions. ``code`` is the core's code of the move.
    """

    move: Move
    value: int
    depth: int | None
    certain: bool
    nearly_drawn: bool = False
    repeats: bool = False
    code: int = -1


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
    tables: Tables, position: Position, among: Collection[int], lines: int = 1,
    deadline: core.Deadline | None = None, not_before: int = 0, *, equal_wins: bool = False,
) -> Ranking | None:
    """Return the ranked moves of the codes ``among``; None if the value of one is unknown.

    The result has only the best groups, enough for at least ``lines`` moves. Certain wins rank
    before uncertain ones and, with depths, short wins before long ones. Nearly drawn losses rank
    before other losses. Draws that repeat a position or end the game rank after other draws: while
    the game goes on, the opponent may err. The search chooses among moves of one rank. For a
    fallible opponent, its choice is harder to answer than the longest loss, the move with the
    fewest replies that keep the value, or waiting for a distant limit on plies. ``equal_wins``: all
    wins have one rank.

    If ``deadline`` has passed, as in `Tables.move_rows`, only the moves looked up until then are
    ranked, and the result is None unless one of them wins or draws.
    """
    rows = tables.move_rows(position, deadline, not_before)
    wanted = set(among)
    choices = _choices([row for row in rows if row[0] in wanted])
    if not choices:
        return None
    if len(choices) < len(wanted) and all(choice.value < 0 for choice in choices):
        # A proven draw is worth more than a move that a search without time would choose; a proven
        # loss is not.
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


def values_of_moves(tables: Tables, position: Position) -> list[Choice] | None:
    """Return the legal moves with their values; None if one is unknown."""
    choices = _choices(tables.move_rows(position))
    by_move = {choice.move: choice for choice in choices or ()}
    return None if choices is None else [by_move[move] for move in position.legal_moves()]


def recurring_keys(position: Position) -> set[int]:
    """Return the keys of the earlier positions that draw the game when they occur once more.

    The current position is excluded: it recurs only if the winning side makes no progress.
    """
    most = position.rules.repetition - 1
    if most < 1:
        return set()
    counts = Counter(position.history)
    return {key for key, times in counts.items() if times >= most and key != position.key}


def _choices(rows: Iterable[MoveRow]) -> list[Choice] | None:
    """Return the moves of some rows; None if a value is unknown."""
    choices = []
    for code, value, depth, least, greatest, nearly_drawn, repeats in rows:
        if value is None:
            return None
        certain = least == greatest
        choices.append(
            Choice(decode_move(code), value, depth, certain, nearly_drawn, repeats, code)
        )
    return choices


def _groups(choices: Sequence[Choice]) -> list[tuple[Choice, ...]]:
    """Return moves of one value in groups of equal rank, the best first."""
    if not any(choice.value or choice.repeats for choice in choices):
        return [tuple(choices)] if choices else []
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
