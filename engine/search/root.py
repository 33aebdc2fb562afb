"""The root of a search: the moves to choose from, and their values in the tablebase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_moves, encode_move
from merels.engine.game.board import SIZE
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.score import TABLE_CP, Score

if TYPE_CHECKING:
    from merels.engine.tablebase.probe import Tables
    from merels.engine.tablebase.root_ranking import Choice


class Root(NamedTuple):
    """The root of a search; ``moves`` are the codes of the moves to choose from."""

    moves: list[int]
    tables: Tables | None = None
    table_men: int = SIZE
    """Number of men below which the search probes the tables."""
    ranks: tuple[int, ...] = ()
    """Rank of each move in the tables, 0 the best; the search chooses among moves of one rank."""
    choices: dict[int, Choice] = {}
    """Each move with its value in the tables, by its code."""
    hits: int = 0
    """Number of moves looked up."""
    settled: bool = False
    """Whether all moves are certain wins of the same depth, so that no search is needed."""

    @property
    def decided(self) -> bool:
        """Whether no search is needed to choose a move: of the first rank, there is only one."""
        return self.settled or len(self.moves) == 1 or self.ranks.count(0) == 1

    def is_certain(self, move: int) -> bool:
        """Return whether the tables have a move's certain value."""
        choice = self.choices.get(move)
        return choice is not None and choice.certain

    def score(self, move: int, score: Score) -> Score:
        """Return a move's score from the search, corrected by its value in the tables."""
        choice = self.choices.get(move)
        if choice is None or score.win_in is not None:
            return score
        if choice.certain:
            return Score(cp=choice.value * (TABLE_CP - (choice.depth or 0)))
        # An uncertain win or loss may become a draw, but never the opposite.
        estimate = score.cp or 0
        return Score(cp=max(estimate, 0) if choice.value > 0 else min(estimate, 0))


def make_root(
    position: Position, root_moves: Sequence[Move], tables: Tables | None, multipv: int,
    deadline: core.Deadline | None = None, not_before: int = 0, *, opening: Tables | None = None,
    equal_wins: bool = False,
) -> Root:
    """Return the root of a search of ``root_moves``, or of all moves if none of them is legal.

    The tables, if any, rule out all but the best moves, at least ``multipv`` of them. If they lack
    a move, the tables of the ``opening`` do so, which the search itself does not probe.
    ``deadline`` and ``not_before`` are as in `rank_moves`. ``equal_wins``: search all winning
    moves. After a search that reported a win in N moves, the move that wins in N may not be the one
    with the least depth to conversion.
    """
    moves = core_moves(position)
    if root_moves:
        wanted = {encode_move(move) for move in root_moves}
        moves = [move for move in moves if move in wanted] or moves
    if tables is None and opening is None:
        return Root(moves)
    from merels.engine.tablebase.root_ranking import rank_moves

    # With ranked moves, the search probes the tables only with fewer men than now. Until the next
    # removal it accounts for repetitions, which the tables ignore, and decides between moves of
    # equal value.
    men = sum(position.total(side) for side in (WHITE, BLACK))
    ranking = None
    for ranked_by in filter(None, (tables, opening)):
        ranking = rank_moves(
            ranked_by, position, moves, multipv, deadline, not_before, equal_wins=equal_wins
        )
        if ranking is not None:
            break
    else:
        return Root(moves, tables, SIZE if any(position.hands) else men)
    # The tables rate all draws equal and all losses equal, but a fallible opponent finds some of
    # these moves harder to answer. Among them the search chooses by its own evaluation, without
    # tables, unless a loss is nearly drawn.
    best, by_opening = ranking.choices[0], ranked_by is not tables
    search_tables = tables if by_opening or best.value > 0 or best.nearly_drawn else None
    choices = {choice.code: choice for choice in ranking.choices}
    ranks = tuple(choice.rank - best.rank for choice in ranking.choices)
    settled = ranking.settled and not equal_wins
    return Root([*choices], search_tables, men, ranks, choices, ranking.hits, settled)
