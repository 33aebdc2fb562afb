"""Time management: from clocks to deadlines, and when a search has thought enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.game.score import Score
from merels.engine.search.limits import LONGEST, Limit

_MOVES_LEFT = 28
"""Moves that a game is assumed to last from any point on, when the clock does not say."""
_MINIMUM = 0.0002
"""Seconds: less than any increment that a runner offers, so that an empty clock recovers."""
_RESERVE = 5
"""Overheads kept on the clock: on a busy machine one move may cost several at once."""
_EASE = 8
"""Overheads on the clock below which the increment is saved rather than spent."""
_STABILITY = (1.4, 1.1, 0.9, 0.75, 0.65)
"""The share of its time that a search uses, by the iterations since its best move changed."""


class Budget(NamedTuple):
    """Seconds: after ``soft`` no new iteration starts, after ``hard`` the search is cut."""

    soft: float
    hard: float


def budget(left: float, increment: float, moves_to_go: int | None, overhead: float) -> Budget:
    """Return the time for one move of a clock with ``left`` seconds.

    ``overhead`` is what a move may lose between the clock and the search; several are kept in
    reserve, and a clock that is down to them grows again by its increments. A clock at or below
    zero still gets the minimum: a late move may be accepted, a missing one cannot.
    """
    usable = left - min(_RESERVE * overhead, max(overhead, left * 0.7))
    if usable <= 0:
        return Budget(_MINIMUM, _MINIMUM)
    moves = min(moves_to_go or _MOVES_LEFT, _MOVES_LEFT)
    ease = min(1.0, left / (_EASE * overhead)) if overhead else 1.0
    soft = usable / moves + increment * 0.75 * ease
    # The clock bounds the time of one move, so that a series of long moves cannot empty it.
    hard = min(soft * 4, usable if moves == 1 else usable * 0.4)
    return Budget(max(_MINIMUM, min(soft, hard)), max(_MINIMUM, hard))


@dataclass
class TimeManager:
    """The clock of a running search, and what ends it between iterations.

    ``overhead`` is in seconds. An ``infinite`` search and one that is ``pondering`` end only when
    they are told to.
    """

    limit: Limit
    side: int
    overhead: float
    infinite: bool = False
    pondering: bool = False
    asked: int = field(default_factory=core.monotonic_ns)
    """When the search was asked for, on the core's clock: what it reports counts from here."""
    started: int = 0
    """Start of its limits; a ponderhit sets it again."""
    soft: float | None = None
    """Seconds after the start at which no new iteration begins; None: no clock."""
    hard: float | None = None
    """Seconds after the start at which the search is cut; None: no limit on time."""
    _best_move: int = -1
    _stable: int = 0

    def __post_init__(self) -> None:
        self.started = self.asked
        limits: list[float] = []
        if self.limit.time is not None:
            # A short time is not eaten up by the overhead.
            reserve = min(self.overhead, self.limit.time / 20)
            limits.append(max(0.001, self.limit.time - reserve))
        left = self.limit.clock(self.side)
        if left is not None:
            increment = self.limit.increment(self.side) or 0.0
            self.soft, hard = budget(left, increment, self.limit.remaining_moves, self.overhead)
            limits.append(hard)
        self.hard = min(limits, default=None)

    @property
    def waits(self) -> bool:
        """Whether only `stop` or a ponderhit may end the search."""
        return self.infinite or self.pondering

    def elapsed(self) -> float:
        """Seconds since the limits began to count."""
        return (core.monotonic_ns() - self.started) / 1e9

    def deadline(self) -> int | None:
        """When the search is cut, on the core's clock in nanoseconds; None: never."""
        if self.waits or self.hard is None:
            return None
        return self.started + int(min(self.hard, LONGEST) * 1e9)

    def enough(self, move: int, depth: int, score: Score) -> bool:
        """Whether to stop after an iteration that ended with this best move."""
        self._stable = self._stable + 1 if move == self._best_move else 0
        self._best_move = move
        if self.waits:
            return False
        if self.limit.mate and 0 < (score.own_moves or 0) <= self.limit.mate:
            return True
        if self.soft is None:
            return False
        if score.win_in is not None and abs(score.win_in) <= depth:
            return True  # A deeper search does not find a sooner end.
        # A best move that keeps changing deserves more time, a settled one less. The next
        # iteration costs a multiple of this one, so the point to stop at is well before the end.
        share = _STABILITY[min(self._stable, len(_STABILITY) - 1)] * 0.6
        return self.elapsed() > self.soft * share
