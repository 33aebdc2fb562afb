"""Scores: an estimate, or a proven win or loss with its distance."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from merels.engine.game.position import BLACK, WHITE


@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's view; exactly one field is set.

    ``cp`` is an estimate in hundredths of a man. ``win_in`` is a proven end: an upper bound on the
    plies that the winner needs, positive if the side to move wins, negative if it loses, and 0 if
    it has already lost.
    """

    cp: int | None = None
    win_in: int | None = None

    @property
    def own_moves(self) -> int | None:
        """Distance of a proven end in moves of the side to move: > 0 for a win, <= 0 for a loss."""
        if self.win_in is None:
            return None
        return (self.win_in + 1) // 2 if self.win_in > 0 else -(-self.win_in // 2)

    @property
    def order(self) -> tuple[int, int]:
        """Key that sorts scores: losses, the longest last; estimates; wins, the shortest last."""
        if self.win_in is None:
            return 0, self.cp or 0
        return (1 if self.win_in > 0 else -1), -self.win_in

    @property
    def known(self) -> int:
        """1 or -1 for a win or loss that comes from a tablebase, without a distance; else 0."""
        if self.cp is None or abs(self.cp) < _LEAST_KNOWN:
            return 0
        return 1 if self.cp > 0 else -1

    def wdl(self) -> tuple[int, int, int]:
        """Return the expected win, draw and loss in permille.

        A proven score is certain. An estimate uses logistic curves fitted to 12,670 games of
        self-play (0.2 s a game and side, standard rules, searches of at least 6 plies). An
        estimate of 114 is won in half of the games, and rarely lost.
        """
        if self.win_in is not None:
            return (1000, 0, 0) if self.win_in > 0 else (0, 0, 1000)
        assert self.cp is not None
        win = _chance(self.cp - _EDGE)
        loss = _chance(-self.cp - _EDGE)
        return win, 1000 - win - loss, loss


@dataclass(frozen=True, slots=True)
class PovScore:
    """A score with the side whose view it is."""

    relative: Score
    """The score from the view of ``side``."""
    side: int

    def pov(self, side: int) -> Score:
        """Return the score from a side's view.

        The opponent's "has lost" (``win_in`` 0) becomes a win in 1 ply, as 0 has no sign.
        """
        score = self.relative
        if side == self.side:
            return score
        if score.win_in is not None:
            return Score(win_in=-score.win_in or 1)
        return Score(cp=-(score.cp or 0))

    def white(self) -> Score:
        """Return the score from White's view."""
        return self.pov(WHITE)

    def black(self) -> Score:
        """Return the score from Black's view."""
        return self.pov(BLACK)


TABLE_CP = 20_000
"""The ``cp`` of a tablebase win, before the distance in plies is subtracted."""
_LEAST_KNOWN = 19_000
"""The least ``cp`` of a tablebase win, above every estimate."""
_EDGE = 114
"""The ``cp`` at which a win has a probability of one half."""
_SPREAD = 27.0
"""Scale of the logistic curve, in hundredths of a man."""


def _chance(lead: int) -> int:
    """Return the logistic function of a lead in hundredths of a man, in permille."""
    return round(1000 / (1 + exp(max(-50.0, min(50.0, -lead / _SPREAD)))))
