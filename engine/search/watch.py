"""The clock of a running search: when it must be cut, and when it has thought enough."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from merels.engine.game.score import Score
from merels.engine.search.limits import Limits
from merels.engine.search.time_management import Budget, budget

MILLION = 1_000_000
"""Nanoseconds in a millisecond."""
LONGEST = 10**12
"""Milliseconds, 31 years: no longer time is told apart from it."""


@dataclass
class Watch:
    """The running search's clock and what ends it between iterations."""

    limits: Limits
    overhead: int
    side: int
    started: int = field(default_factory=time.monotonic_ns)
    """When the limits began to count: a ponderhit sets it anew."""
    asked: int = field(default_factory=time.monotonic_ns)
    """When the search was asked for: what it reports counts from here."""
    pondering: bool = False
    soft: int | None = None
    """Nanoseconds after the start; None: no clock."""
    last_move: int = -1
    stable: int = 0

    def elapsed(self) -> int:
        """Nanoseconds since the limits began to count."""
        return time.monotonic_ns() - self.started

    def arm(self) -> int | None:
        """The monotonic time, in nanoseconds, at which the search must be cut; None: never."""
        if self.limits.infinite or self.pondering:
            return None
        hard: list[float] = []
        if self.limits.movetime is not None:
            hard.append(max(1, self.limits.movetime - self.overhead_of_movetime()))
        left = self.limits.time[self.side]
        if left is not None:
            plan: Budget = budget(
                left, self.limits.increment[self.side], self.limits.moves_to_go, self.overhead
            )
            self.soft = int(plan.soft * MILLION)
            hard.append(plan.hard)
        return self.started + int(min(*hard, LONGEST) * MILLION) if hard else None

    def overhead_of_movetime(self) -> int:
        """What to keep back of a fixed time per move; a short one is not eaten up."""
        assert self.limits.movetime is not None
        return min(self.overhead, self.limits.movetime // 20)

    def enough(self, move: int, depth: int, score: Score) -> bool:
        """Whether to stop after an iteration that ended with this best move."""
        self.stable = self.stable + 1 if move == self.last_move else 0
        self.last_move = move
        if self.soft is None or self.pondering or self.limits.infinite:
            return False
        if score.win_in is not None and abs(score.win_in) <= depth:
            return True     # a proven end that lies within the depth does not come sooner
        # A best move that keeps changing deserves more time, a settled one less. The next
        # iteration costs a multiple of this one, so half of the time is the point to stop at.
        share = (1.4, 1.1, 0.9, 0.75, 0.65)[min(self.stable, 4)] * 0.6
        return self.elapsed() > self.soft * share
