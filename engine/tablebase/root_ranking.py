"""Root ranking: the order of a position's moves by their tablebase values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import decode_move
from merels.engine.game.position import Move, Position
from merels.engine.tablebase.probe import MAX_TABLE_DEPTH, Tables


class Choice(NamedTuple):
    """A move, by its ``code`` in the core, with its value for the side that plays it.

    The fields are those of a row of `core.TableSet.moves` whose value is known.
    """

    code: int
    value: int
    depth: int | None
    certain: bool
    nearly_drawn: bool = False
    repeats: bool = False
    rank: int = 0

    @property
    def move(self) -> Move:
        """The move."""
        return decode_move(self.code)


class Ranking(NamedTuple):
    """The moves of a position, the best first; ``hits`` is the number of moves looked up."""

    choices: list[Choice]
    hits: int

    @property
    def settled(self) -> bool:
        """Whether all moves are certain wins with the same known depth."""
        best = self.choices[0]
        if best.value != 1 or not best.certain or best.depth is None:
            return False
        # The greatest stored depth is only a bound.
        return best.depth <= MAX_TABLE_DEPTH and all(
            choice[1:4] == best[1:4] for choice in self.choices
        )


def rank_moves(
    tables: Tables, position: Position, among: Sequence[int], lines: int = 1,
    deadline: core.Deadline | None = None, not_before: int = 0, *, equal_wins: bool = False,
) -> Ranking | None:
    """Return the ranked moves of the codes ``among``; None if the value of one is unknown.

    The result has only moves of the best ranks, at least ``lines`` moves. The core defines the
    order (`rank_values` in move_values.pxi). The search chooses among moves of one rank. For a
    fallible opponent, its choice is harder to answer than the longest loss, the move with the
    fewest replies that keep the value, or waiting for a distant limit on plies. ``equal_wins``: all
    wins have one rank.

    If ``deadline`` has passed, as in `core.TableSet.moves`, only the moves looked up until then are
    ranked, and the result is None unless one of them wins or draws.
    """
    rows = tables.move_rows(position, among, deadline, not_before, equal_wins=equal_wins)
    if not rows or rows[-1][1] is None:  # Unknown values come last.
        return None
    choices = list(map(Choice._make, rows))
    if choices[0].value < 0:
        if len(rows) < len(among):
            # A proven draw is worth more than a move that a search without time would choose; a
            # proven loss is not.
            return None
        if not all(choice.certain for choice in choices):
            # One uncertain loss makes the position's loss uncertain: no move is certain.
            choices = [choice._replace(certain=False) for choice in choices]
    worst = choices[min(lines, len(rows)) - 1].rank
    return Ranking([choice for choice in choices if choice.rank <= worst], len(rows))


def values_of_moves(tables: Tables, position: Position) -> list[Choice] | None:
    """Return the legal moves with their values; None if one is unknown."""
    rows = tables.move_rows(position)
    if rows and rows[-1][1] is None:
        return None
    by_move = {choice.move: choice for choice in map(Choice._make, rows)}
    return [by_move[move] for move in position.legal_moves()]


def recurring_keys(position: Position) -> set[int]:
    """Return the keys of the earlier positions that draw the game when they occur once more.

    The current position is excluded: it recurs only if the winning side makes no progress.
    """
    most = position.rules.repetition - 1
    if most < 1:
        return set()
    counts = Counter(position.history)
    return {key for key, times in counts.items() if times >= most and key != position.key}
