"""Lessons: positions of one's own games in which a better move is asked for."""

from __future__ import annotations

from merels.engine.game.position import COLOURS, Move, Position
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.training import Attempt
from merels.protocol.review.review import NAMES, Judge, Judgement, expected


class Lesson(Attempt):
    """A move of a game that was judged a mistake, to be bettered: one that loses little will do.

    ``number`` of ``count`` lessons.
    """

    rated = False

    def __init__(
        self, judgement: Judgement, position: Position, judge: Judge, number: int, count: int
    ) -> None:
        """``judge`` judges moves other than the best, as it judged those of the game."""
        best = judgement.before.best
        assert best is not None, "a mistake has a better move"
        moves = len(position.legal_moves())
        super().__init__(Puzzle(position, 0, (best,), (), 1, moves, None))
        self.number, self.count = number, count
        self._judgement, self._judge = judgement, judge

    @property
    def task(self) -> str:
        """The task, as a sentence."""
        judged = self._judgement
        side, kind = COLOURS[judged.side], judged.name
        article = "an" if kind[0] in "aeiou" else "a"
        return f"{side} played {judged.move}, {article} {kind}. Find a better move."

    def is_right(self, move: Move) -> bool:
        """Whether a move is the best, or loses less than an inaccuracy."""
        if move in (self.wanted, self._judgement.move):
            return move == self.wanted
        before, after = self._judgement.before, self._judge(self.position.play(move))
        side = self._judgement.side
        loss = expected(before.score.pov(side)) - expected(after.score.pov(side))
        return loss < NAMES[-1][0]
