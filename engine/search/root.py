"""The root of a search: the moves to choose from, and their values in the tablebase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from merels.engine.core.convert import core_moves, decode_move, encode_move
from merels.engine.game.board import SIZE
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.score import TABLE_CP, Score

if TYPE_CHECKING:
    from merels.engine.tablebase.probe import Tables
    from merels.engine.tablebase.root_ranking import Choice


class Root(NamedTuple):
    """Where a search begins; ``moves`` are the core's numbers of the moves to choose from."""

    moves: list[int]
    tables: Tables | None = None
    table_men: int = SIZE
    """The search probes the tables for boards with fewer men than this."""
    ranks: tuple[int, ...] = ()
    """The order that the tables put the moves in; the search chooses among equal ones."""
    choices: dict[int, Choice] = {}
    """Each move's value in the tables."""
    hits: int = 0
    """How many moves were looked up."""
    settled: bool = False
    """Whether the tables leave nothing to choose."""

    def score(self, move: int, score: Score) -> Score:
        """A move's score from the search, corrected by what the tables know of it."""
        choice = self.choices.get(move)
        if choice is None or score.win_in is not None:
            return score
        if choice.certain:
            return Score(cp=choice.value * (TABLE_CP - (choice.depth or 0)))
        # A win or a loss in the tables may still become a draw, and nothing else.
        estimate = score.cp or 0
        return Score(cp=max(estimate, 0) if choice.value > 0 else min(estimate, 0))


def make_root(
    position: Position, root_moves: Sequence[Move], tables: Tables | None, multipv: int,
    interrupted: Callable[[], bool] = lambda: False,
) -> Root:
    """The root with the legal moves among ``root_moves``, or all, without those ruled out.

    ``interrupted`` is asked between the looks into tables: those that are left are not taken.
    """
    moves = core_moves(position)
    wanted = {encode_move(move) for move in root_moves}
    moves = [move for move in moves if move in wanted] or moves
    if tables is None:
        return Root(moves)
    from merels.engine.tablebase.root_ranking import rank_moves

    # Before the next removal positions of the game may recur, of which the tables know nothing,
    # and the tables do not tell moves of equal value apart: both are left to the search.
    men = sum(position.total(side) for side in (WHITE, BLACK))
    ranking = rank_moves(
        tables, position, [decode_move(move) for move in moves], multipv, interrupted
    )
    if ranking is None:
        return Root(moves, tables, SIZE if any(position.hands) else men)
    best = ranking.groups[0][0]
    # Tables make equals of all draws, and of all losses, while some are harder to answer for an
    # opponent that errs: the search distinguishes them by its own evaluation.
    inside = tables if best.value > 0 or best.nearly_drawn else None
    # Equal moves stay in the order of a search without tables.
    ranked = [
        (rank, one)
        for rank, group in enumerate(ranking.groups)
        for one in sorted(group, key=lambda one: moves.index(encode_move(one.move)))
    ]
    choices = {encode_move(choice.move): choice for _, choice in ranked}
    return Root(
        list(choices), inside, men, tuple(rank for rank, _ in ranked), choices, ranking.hits,
        ranking.settled,
    )
