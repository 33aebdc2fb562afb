"""Scores: an estimate, or a proven end and its distance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's own view; exactly one field is set.

    ``cp`` is an estimate in hundredths of a man. ``win_in`` is proven: plies to the end of the
    game, above 0 when the side to move wins, 0 when it has lost, below 0 when it will lose.
    """

    cp: int | None = None
    win_in: int | None = None

    @property
    def own_moves(self) -> int | None:
        """A proven end counted in the winner's (> 0) or loser's (<= 0) own moves."""
        if self.win_in is None:
            return None
        return (self.win_in + 1) // 2 if self.win_in > 0 else -(-self.win_in // 2)

    def wdl(self) -> tuple[int, int, int]:
        """Expected win, draw and loss in a thousand.

        A proven score is certain. An estimate is read through a logistic curve in which a lead of
        one man, or its like, wins half of what is not drawn against equal play.
        """
        if self.win_in is not None:
            return (1000, 0, 0) if self.win_in > 0 else (0, 0, 1000)
        assert self.cp is not None
        win = _chance(self.cp - _EDGE)
        loss = _chance(-self.cp - _EDGE)
        return win, 1000 - win - loss, loss


_EDGE = 100
_SPREAD = 60.0


def _chance(lead: int) -> int:
    """A lead's logistic share of a thousand."""
    from math import exp

    return round(1000 / (1 + exp(max(-50.0, min(50.0, -lead / _SPREAD)))))
