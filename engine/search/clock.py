"""The clock of a search: its limits, the signals that end it, and its deadline."""

from __future__ import annotations

import threading
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import real_number, truth_value, whole_number
from merels.engine.core import core
from merels.engine.game.position import WHITE
from merels.engine.game.score import Score
from merels.engine.search.limits import LONGEST, Limit, required_limit

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
_TIMES = -1 << 62, 1 << 62
"""Least and greatest time in nanoseconds of `core.monotonic_ns`."""


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


class Clock:
    """The clock of one search, which decides when the search ends.

    Signals may come from any thread, also before the search begins. While a search is infinite or
    pondering, neither time nor ``mate`` ends it. A pondering search that would have stopped stops
    at the ponderhit. Times are nanoseconds of `core.monotonic_ns`.
    """

    def __init__(self) -> None:
        self.deadline = core.Deadline()
        """Time at which all workers stop; 0 stops them at once."""
        self.stopped = False
        """Whether `stop` was called."""
        self.hit: int | None = None
        """Time of the ponderhit, or None."""
        self.limit = Limit()
        self.side = WHITE
        self.asked = 0
        """Time of the request, from which reported times count."""
        self.time: float | None = None
        """Seconds after the request or the ponderhit that end the search; None: no such limit."""
        self.budget: Budget | None = None
        """Time on the clock in seconds after the request, pondering included; None: no clock."""
        self.decided = False
        """Whether only one move is left to choose, so that a search on a clock needs one ply."""
        self._infinite = self._ponders = False
        self._done = False
        """Whether a search that did not wait would have stopped, or the search has ended."""
        self._best_move, self._stable = -1, 0
        self._changed = threading.Condition()

    def begin(
        self, limit: Limit, side: int, overhead: float = 0.0, *, infinite: bool = False,
        ponder: bool = False, asked: int | None = None,
    ) -> None:
        """Start the clock of a search; signals that were sent earlier apply now.

        ``overhead`` is in seconds; ``asked`` is the time of the request, None for now.
        `InputError` for an argument of another type, and if an earlier search has used the clock.
        """
        if self._done:
            raise InputError("clock", "expected a new Clock for each search")
        required_limit(limit)
        real_number(overhead, 0, LONGEST, "overhead")
        truth_value(infinite, "infinite")
        truth_value(ponder, "ponder")
        if asked is not None:
            whole_number(asked, *_TIMES, "asked")
        with self._changed:
            self.limit, self.side = limit, side
            self.asked = core.monotonic_ns() if asked is None else asked
            self._infinite, self._ponders = infinite, ponder
            if limit.time is not None:
                # At most half of the time, so that a short time is not all reserve.
                self.time = max(0.001, limit.time - min(overhead, limit.time / 2))
            clock = limit.clock(side)
            if clock is not None:
                increment = limit.increment(side) or 0.0
                self.budget = budget(clock, increment, limit.remaining_moves, overhead)
            self._apply()

    def stop(self) -> None:
        """End the search as soon as possible."""
        with self._changed:
            self.stopped = True
            self._apply()

    def ponderhit(self, at: int | None = None) -> None:
        """Start the time limits of a pondering search: the opponent has played the expected move.

        ``limit.time`` counts from ``at``, None for now.
        """
        if at is not None:
            whole_number(at, *_TIMES, "at")
        with self._changed:
            if self.hit is None:
                self.hit = core.monotonic_ns() if at is None else at
                self._apply()

    def end(self) -> None:
        """Stop all workers, as the search has its result."""
        with self._changed:
            self._done = True
            self.deadline.set(0)

    def wait(self) -> None:
        """Wait for `stop` if the search is infinite, or for `stop` or `ponderhit` if it ponders."""
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or not self.waits)

    @property
    def waits(self) -> bool:
        """Whether the search must not answer before a stop or a ponderhit."""
        return self._infinite or self._ponders and self.hit is None

    def end_time(self, seconds: float | None) -> int | None:
        """Return when a search ends that may use ``seconds`` of the clock; None: it has no clock.

        The result 0 is at once, None never.
        """
        if self.stopped or self._done and not self.waits:
            return 0
        if self.waits:
            return None
        started = self.hit if self._ponders and self.hit is not None else self.asked
        ends = [
            start + int(min(after, LONGEST) * 1e9)
            for start, after in ((started, self.time), (self.asked, seconds)) if after is not None
        ]
        return min(ends, default=None)

    def enough(self, move: int, depth: int, score: Score) -> bool:
        """Return whether to stop after an iteration with this best move, depth and score."""
        with self._changed:
            self._stable = self._stable + 1 if move == self._best_move else 0
            self._best_move = move
            self._done = self._done or self._is_enough(depth, score)
            return self._done and not self.waits

    def _is_enough(self, depth: int, score: Score) -> bool:
        """Return whether a search that does not wait stops after this depth and score."""
        if self.limit.mate and 0 < (score.mate() or 0) <= self.limit.mate:
            return True
        if self.budget is None:
            return False
        if self.decided or score.win_in is not None and abs(score.win_in) <= depth:
            return True  # A deeper search finds no other move, no shorter win and no longer loss.
        # A best move that keeps changing gets more time, a stable one less. The next iteration
        # takes several times as long as this one, so stop well before the soft limit.
        share = _STABILITY[min(self._stable, len(_STABILITY) - 1)] * 0.6
        return (core.monotonic_ns() - self.asked) / 1e9 > self.budget.soft * share

    def _apply(self) -> None:
        """Set the deadline; a proof of the shortest win has the soft limit. Hold the lock."""
        soft, hard = self.budget or (None, None)
        self.deadline.set(self.end_time(hard), self.end_time(soft))
        self._changed.notify_all()
