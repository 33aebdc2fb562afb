"""Scores: an estimate, or a proven end and its distance."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from merels.engine.game.position import BLACK, WHITE


@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's own view; exactly one field is set.

    ``cp`` is an estimate in hundredths of a man. ``win_in`` is proven: plies in which the winner
    ends the game or fewer, above 0 when the side to move wins, 0 when it has lost, below 0 when it
    will lose.
    """

    cp: int | None = None
    win_in: int | None = None

    @property
    def own_moves(self) -> int | None:
        """A proven end counted in the winner's (> 0) or loser's (<= 0) own moves."""
        if self.win_in is None:
            return None
        return (self.win_in + 1) // 2 if self.win_in > 0 else -(-self.win_in // 2)

    @property
    def known(self) -> int:
        """1 or -1 where a table knows a win or a loss whose end is not in sight, else 0."""
        if self.cp is None or abs(self.cp) < _LEAST_KNOWN:
            return 0
        return 1 if self.cp > 0 else -1

    def wdl(self) -> tuple[int, int, int]:
        """Expected win, draw and loss in a thousand.

        A proven score is certain. An estimate is read through the logistic curves that explain best
        how 12,670 games of the engine against itself ended (0.2 s a game and side, standard
        rules, searches of 6 plies and more): a lead worth 1.14 men wins every second game, and
        hardly any of the others is lost.
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
    """The view of the side that was to move."""
    side: int

    def pov(self, side: int) -> Score:
        """A side's view. A game that the other side has just lost is won in 1 ply."""
        score = self.relative
        if side == self.side:
            return score
        if score.win_in is not None:
            return Score(win_in=-score.win_in or 1)
        return Score(cp=-(score.cp or 0))

    def white(self) -> Score:
        """White's view."""
        return self.pov(WHITE)

    def black(self) -> Score:
        """Black's view."""
        return self.pov(BLACK)


TABLE_CP = 20_000
"""The estimate of a win that a table knows, less the plies to it: its end is not in sight yet."""
_LEAST_KNOWN = 19_000
_EDGE = 114
_SPREAD = 27.0


def _chance(lead: int) -> int:
    """A lead's logistic share of a thousand."""
    return round(1000 / (1 + exp(max(-50.0, min(50.0, -lead / _SPREAD)))))
