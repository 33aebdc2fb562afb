"""Clock of an engine, in whole nanoseconds of monotonic time."""

from __future__ import annotations

from merels.tournament.records.games import MILLISECOND, TimeControl


class Clock:
    """An engine's remaining time under its limit.

    left         remaining time; None without a clock, negative after an overrun within the margin
    sent         `left` in milliseconds for engines: rounded down, but at least 1, because some
                 engines treat 0 as no clock, and others fail on negative values
    allowance    time for the next move, by clock and time per move; None without a limit
    moves_to_go  moves until the clock gets more time; None if it gets none
    overruns     number of moves with an overrun within the margin
    """

    __slots__ = ("limit", "left", "sent", "allowance", "moves_to_go", "overruns")

    def __init__(self, limit: TimeControl) -> None:
        self.limit = limit
        self.overruns = 0
        self.set_left(limit.time)
        self.moves_to_go = limit.moves if limit.time is not None else None

    def set_left(self, left: int | None) -> None:
        per_move = self.limit.per_move
        self.left = self.sent = self.allowance = left
        if left is not None:
            self.sent = left // MILLISECOND if left > MILLISECOND else 1
        if per_move is not None:
            self.allowance = per_move if left is None else min(left, per_move)

    def spend(self, elapsed: int) -> int:
        """Charge the time of a move; return the overrun if it exceeds the margin, else 0.

        The margin is not subtracted from the overrun. A move that exceeds the margin changes
        nothing, because it loses the game.
        """
        allowance = self.allowance
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
    """Return an overrun in whole milliseconds, rounded up, for the reason of a loss."""
    return f"{-(-overrun // MILLISECOND)}ms overrun"
