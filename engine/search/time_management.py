"""Time management: deadlines from clocks, and the decision to stop between iterations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.game.score import Score
from merels.engine.search.limits import LONGEST, Limit

_MOVES_LEFT = 28
"""Number of moves that the clock must last for, unless the next time control is nearer."""
_MINIMUM_SECONDS = 0.0002
"""Least time for a move, in seconds: below any usual increment, so that an empty clock recovers."""
_RESERVE_OVERHEADS = 5
"""Overheads kept in reserve on the clock: on a busy machine a move may lose several."""
_FULL_INCREMENT_OVERHEADS = 8
"""Number of overheads on the clock below which a smaller part of the increment is spent."""
_STABILITY = (1.4, 1.1, 0.9, 0.75, 0.65)
"""Factor of the soft limit, by the number of iterations since the best move changed."""


class Budget(NamedTuple):
    """Time for a move in seconds.

    No iteration starts after 39 to 84 % of ``soft``: the more stable the best move, the earlier.
    ``hard`` interrupts the search.
    """

    soft: float
    hard: float


def budget(clock: float, increment: float, moves_to_go: int | None, overhead: float) -> Budget:
    """Return the time for one move with ``clock`` seconds on the clock.

    ``overhead`` is the time in seconds that a move may lose outside of the search. The reserve is
    five overheads, but at most 70 % of the clock or one overhead, whichever is more. A clock of at
    most one overhead gets the minimum: a late move may still be accepted, unlike a missing move.
    """
    usable = clock - min(_RESERVE_OVERHEADS * overhead, max(overhead, clock * 0.7))
    if usable <= 0:
        return Budget(_MINIMUM_SECONDS, _MINIMUM_SECONDS)
    moves = min(moves_to_go or _MOVES_LEFT, _MOVES_LEFT)
    part = min(1.0, clock / (_FULL_INCREMENT_OVERHEADS * overhead)) if overhead else 1.0
    soft = usable / moves + increment * 0.75 * part
    # At most 40 % of the usable time; all of it for the last move before the time control.
    hard = min(soft * 4, usable if moves == 1 else usable * 0.4)
    return Budget(max(_MINIMUM_SECONDS, min(soft, hard)), max(_MINIMUM_SECONDS, hard))


@dataclass
class TimeManager:
    """The clock of a running search, which decides when the search ends.

    ``overhead`` is in seconds. While a search is ``infinite`` or ``pondering``, neither time
    nor ``mate`` ends it. A pondering search that would have stopped stops at the ponderhit.
    """

    limit: Limit
    side: int
    overhead: float
    infinite: bool = False
    pondering: bool = False
    asked: int = field(default_factory=core.monotonic_ns)
    """Time of the request in nanoseconds of `core.monotonic_ns`; reported times count from it."""
    started: int = 0
    """Start of ``time``, on the same clock as ``asked``; a ponderhit sets it again."""
    time: float | None = None
    """Seconds after ``started`` at which the search is interrupted; None: no such limit."""
    budget: Budget | None = None
    """Time on the clock in seconds after ``asked``, pondering included; None: no clock."""
    decided: bool = False
    """Whether only one move is left to choose, so that a search on a clock needs one ply."""
    done: bool = False
    """Whether a search that did not wait would have stopped."""
    _best_move: int = -1
    _stable: int = 0

    def __post_init__(self) -> None:
        self.started = self.asked
        if self.limit.time is not None:
            # At most 5 % of the time, so that a short time is not all reserve.
            reserve = min(self.overhead, self.limit.time / 20)
            self.time = max(0.001, self.limit.time - reserve)
        clock = self.limit.clock(self.side)
        if clock is not None:
            increment = self.limit.increment(self.side) or 0.0
            self.budget = budget(clock, increment, self.limit.remaining_moves, self.overhead)

    @property
    def waits(self) -> bool:
        """Whether the search must not answer before a stop or a ponderhit."""
        return self.infinite or self.pondering

    def ponderhit(self, at: int) -> None:
        """Start the time limits of a pondering search at the nanosecond ``at``."""
        if self.pondering:
            self.started, self.pondering = at, False

    def deadline(self) -> int | None:
        """Return the nanosecond of `core.monotonic_ns` that ends the search; None: never."""
        if self.waits:
            return None
        if self.done:
            return 0
        hard = None if self.budget is None else self.budget.hard
        ends = [_after(self.started, self.time), _after(self.asked, hard)]
        return min((end for end in ends if end is not None), default=None)

    def proof_deadline(self) -> int | None:
        """Return the nanosecond at which a proof of the shortest win ends; None: `deadline`."""
        if self.waits or self.done or self.budget is None:
            return None
        return _after(self.asked, self.budget.soft)

    def enough(self, move: int, depth: int, score: Score) -> bool:
        """Return whether to stop after an iteration with this best move, depth and score."""
        self._stable = self._stable + 1 if move == self._best_move else 0
        self._best_move = move
        self.done = self.done or self._is_enough(depth, score)
        return self.done and not self.waits

    def _is_enough(self, depth: int, score: Score) -> bool:
        """Return whether a search that does not wait stops after this depth and score."""
        if self.limit.mate and 0 < (score.own_moves or 0) <= self.limit.mate:
            return True
        if self.budget is None:
            return False
        if self.decided or score.win_in is not None and abs(score.win_in) <= depth:
            return True  # A deeper search finds no other move, no shorter win and no longer loss.
        # A best move that keeps changing gets more time, a stable one less. The next iteration
        # takes several times as long as this one, so stop well before the soft limit.
        share = _STABILITY[min(self._stable, len(_STABILITY) - 1)] * 0.6
        return (core.monotonic_ns() - self.asked) / 1e9 > self.budget.soft * share


def _after(start: int, seconds: float | None) -> int | None:
    """Return the nanosecond that is ``seconds`` after ``start``, or None."""
    return None if seconds is None else start + int(min(seconds, LONGEST) * 1e9)
