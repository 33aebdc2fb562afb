"""Lessons: the player's own mistakes, as puzzles whose task is to find a better move."""

from __future__ import annotations

from merels.engine.common.messages import message
from merels.engine.game.position import COLOURS, Move, Position
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.training import Attempt
from merels.protocol.review.review import GRADES, Judge, Judgement, expected


_TASKS = {
    "blunder": "{side} played {move}, a blunder. Find a better move.",
    "mistake": "{side} played {move}, a mistake. Find a better move.",
    "inaccuracy": "{side} played {move}, an inaccuracy. Find a better move.",
}


class Lesson(Attempt):
    """An attempt to improve on an inaccuracy, mistake or blunder that a review found.

    ``number``, from 0, is the lesson's index among ``count`` lessons.
    """

    rated = False

    def __init__(
        self, judgement: Judgement, position: Position, judge: Judge, number: int, count: int
    ) -> None:
        """``judge`` evaluates the positions after the player's moves, as in the review."""
        best = judgement.before.best
        assert best is not None, "a mistake has a better move"
        moves = len(position.legal_moves())
        super().__init__(Puzzle(position, 0, (best,), (), 1, moves, None))
        self.number, self.count = number, count
        self._judgement, self._judge = judgement, judge

    @property
    def task(self) -> str:
        """The task, as a sentence."""
        judgement = self._judgement
        return message(_TASKS[judgement.name], side=COLOURS[judgement.side], move=judgement.move)

    def is_right(self, move: Move) -> bool:
        """Return whether a move is the best move, or loses less than an inaccuracy."""
        if move in (self.wanted, self._judgement.move):  # The review has judged both.
            return move == self.wanted
        before, after = self._judgement.before, self._judge(self.position.play(move))
        side = self._judgement.side
        loss = expected(before.score.pov(side)) - expected(after.score.pov(side))
        return loss < GRADES[-1][0]
