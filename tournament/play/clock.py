"""An engine's clock, in whole nanoseconds of monotonic time."""

from __future__ import annotations

from merels.tournament.records.games import TimeControl

MILLISECOND = 1_000_000


class Clock:
    """What an engine has left under its limit. ``left`` is None where no clock runs.

    An overrun within the margin is kept: ``left`` is then below zero, and the next increment or
    time control makes up for it. ``gone`` is what went by of the next move before it was asked for.
    """

    __slots__ = ("limit", "left", "gone", "moves_to_go")

    def __init__(self, limit: TimeControl) -> None:
        self.limit = limit
        self.left = limit.time
        self.gone = 0
        self.moves_to_go = limit.moves if limit.time is not None else None

    def allowance(self) -> int | None:
        """What the next move may take before the clock is overrun; None without a limit."""
        if self.limit.per_move is None:
            return self.left
        if self.left is None:
            return self.limit.per_move
        return min(self.left, self.limit.per_move)

    def spend(self, elapsed: int) -> int:
        """Take a move's time off and return by how much it overran beyond the margin, or 0.

        ``elapsed`` is the whole time, with what was ``gone`` before the move was asked for.
        The overrun is the whole of it, margin included. Increments and further time controls are
        given only to a move that was in time.
        """
        self.gone = 0
        allowance = self.allowance()
        if allowance is not None and elapsed > allowance + self.limit.margin:
            return elapsed - allowance
        if self.left is None:
            return 0
        self.left += self.limit.increment - elapsed
        if self.moves_to_go is not None and self.limit.moves is not None:
            self.moves_to_go -= 1
            if self.moves_to_go == 0:
                self.moves_to_go = self.limit.moves
                self.left += self.limit.time or 0
        return 0

    def milliseconds(self) -> int | None:
        """The clock as engines are told it: rounded down, but 1 where nothing is left.

        There are engines to which 0 means that no clock runs, and others that fail at a sign.
        """
        if self.left is None:
            return None
        told = (self.left - self.gone) // MILLISECOND
        return told if told > 0 else 1


def overrun_text(overrun: int) -> str:
    """An overrun as the reason of a loss gives it: whole milliseconds, rounded up."""
    return f"{-(-overrun // MILLISECOND)}ms overrun"
