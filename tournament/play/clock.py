"""An engine's clock, in whole nanoseconds of monotonic time."""

from __future__ import annotations

from merels.tournament.records.games import TimeControl

MILLISECOND = 1_000_000


class Clock:
    """An engine's remaining time under its limit. ``left`` is None without a clock.

    An overrun within the margin is kept: ``left`` is then below zero, and the next increment or
    time control makes up for it. ``told`` is ``left`` in milliseconds as sent to engines: rounded
    down, but at least 1, for some engines take 0 for no clock at all, and others fail at a minus.
    ``overruns`` counts the moves whose overrun was within the margin.
    """

    __slots__ = ("limit", "left", "told", "moves_to_go", "overruns")

    def __init__(self, limit: TimeControl) -> None:
        self.limit = limit
        self.overruns = 0
        self.set_left(limit.time)
        self.moves_to_go = limit.moves if limit.time is not None else None

    def set_left(self, left: int | None) -> None:
        """Let the engine have so much left."""
        self.left = left
        self.told = left
        if left is not None:
            self.told = left // MILLISECOND if left > MILLISECOND else 1

    def allowance(self) -> int | None:
        """Time until the next move overruns the clock; None without a limit."""
        if self.limit.per_move is None:
            return self.left
        if self.left is None:
            return self.limit.per_move
        return min(self.left, self.limit.per_move)

    def spend(self, elapsed: int) -> int:
        """Charge a move's time; returns the overrun if it is beyond the margin, else 0.

        The overrun includes the margin. Increments and further time controls go only to a move in
        time.
        """
        allowance = self.allowance()
        if allowance is not None and elapsed > allowance:
            if elapsed > allowance + self.limit.margin:
                return elapsed - allowance
            self.overruns += 1
        if self.left is None:
            return 0
        left = self.left + self.limit.increment - elapsed
        if self.moves_to_go is not None and self.limit.moves is not None:
            self.moves_to_go -= 1
            if self.moves_to_go == 0:
                self.moves_to_go = self.limit.moves
                left += self.limit.time or 0
        self.set_left(left)
        return 0


def overrun_text(overrun: int) -> str:
    """An overrun in whole milliseconds, rounded up, for the reason of a loss."""
    return f"{-(-overrun // MILLISECOND)}ms overrun"
