"""Scores: an estimate, or a proven win or loss with its distance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import total_ordering
from math import exp
from typing import overload

from merels.engine.common.errors import InputError, required, shown
from merels.engine.game.position import BLACK, WHITE, required_side


@total_ordering
@dataclass(frozen=True, slots=True)
class Score:
    """A score from the side to move's view; exactly one field is set.

    ``cp`` is an estimate in hundredths of a man. ``win_in`` is a proven end: an upper bound on the
    plies that the winner needs, positive if the side to move wins, negative if it loses, and 0 if
    it has already lost.

    A better score is greater: losses, the longest last; estimates; wins, the shortest last.
    """

    cp: int | None = None
    win_in: int | None = None

    def __post_init__(self) -> None:
        number = self.win_in if self.cp is None else self.cp
        if None not in (self.cp, self.win_in) or not isinstance(number, int):
            raise InputError(
                f"cp={self.cp!r} win_in={self.win_in!r}",
                "expected an integer, either cp or win_in, as in Score(cp=20)",
            )

    def mate(self) -> int | None:
        """Return the distance of a proven end in moves of the side to move, or None.

        It is positive for a win, negative for a loss, and 0 if the side has already lost.
        """
        if self.win_in is None:
            return None
        return (self.win_in + 1) // 2 if self.win_in > 0 else -(-self.win_in // 2)

    def is_mate(self) -> bool:
        """Return whether the score is a proven end."""
        return self.win_in is not None

    @overload
    def score(self, *, mate_score: int) -> int: ...
    @overload
    def score(self, *, mate_score: int | None = None) -> int | None: ...

    def score(self, *, mate_score: int | None = None) -> int | None:
        """Return the score in hundredths of a man.

        A proven end is worth ``mate_score`` less a hundredth for each own move; without
        ``mate_score``, it is None.
        """
        moves = self.mate()
        if moves is None:
            return self.cp
        if mate_score is None:
            return None
        required(mate_score, int, "an integer for mate_score")
        return mate_score - moves if moves > 0 else -mate_score - moves

    def __neg__(self) -> Score:
        """Return the score from the other side's view.

        "Has lost" becomes a win in 1 ply, as 0 has no sign.
        """
        if self.win_in is not None:
            return Score(win_in=-self.win_in or 1)
        return Score(cp=-(self.cp or 0))

    def __lt__(self, other: Score) -> bool:
        if not isinstance(other, Score):
            return NotImplemented
        return self._order() < other._order()

    def _order(self) -> tuple[int, int]:
        if self.win_in is None:
            return 0, self.cp or 0
        return (1 if self.win_in > 0 else -1), -self.win_in

    @property
    def known(self) -> int:
        """1 or -1 for a win or loss that comes from a tablebase, without a distance; else 0."""
        if self.cp is None or abs(self.cp) < _LEAST_KNOWN:
            return 0
        return 1 if self.cp > 0 else -1

    def expectation(self) -> float:
        """Return the expected points of the side to move, from 0 to 1, by `wdl`."""
        win, draw, _ = self.wdl()
        return (win + draw / 2) / 1000

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


@dataclass(frozen=True, slots=True, eq=False)
class PovScore:
    """A score with the side whose view it is; equal scores from both views are equal.

    `InputError` for a field of another type.
    """

    relative: Score
    """The score from the view of ``side``."""
    side: int

    def __post_init__(self) -> None:
        if not isinstance(self.relative, Score):
            raise InputError(shown(self.relative), "expected a Score, such as Score(cp=20)")
        required_side(self.side)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PovScore) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> Score | int:
        """Return White's view, or the side that has lost already, as 0 has no sign."""
        return self.side if self.relative.win_in == 0 else self.white()

    def pov(self, side: int) -> Score:
        """Return the score from the view of a side, WHITE or BLACK."""
        return self.relative if required_side(side) == self.side else -self.relative

    def is_mate(self) -> bool:
        """Return whether the score is a proven end."""
        return self.relative.is_mate()

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
