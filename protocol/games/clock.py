"""The clock of a game."""

from __future__ import annotations

import re
from time import monotonic

from merels.engine.game.position import BLACK, WHITE

_TIME = re.compile(r"(?:[0-9]{1,9}:){0,2}[0-9]{1,9}(?:\.[0-9]{0,9})?")


def clock_text(seconds: float) -> str:
    """Return a time as PGN writes it, rounded to hundredths of a second: ``0:04:59.25``.

    A negative time is written as 0.
    """
    minutes, hundredths = divmod(max(0, round(100 * seconds)), 6000)
    seconds_text = f"{hundredths // 100:02}.{hundredths % 100:02}".rstrip("0").rstrip(".")
    return f"{minutes // 60}:{minutes % 60:02}:{seconds_text}"


def read_clock(text: str) -> float:
    """Return the seconds of a time such as ``0:04:59.25``, ``4:59`` or ``299.25``.

    ValueError for other text.
    """
    if _TIME.fullmatch(text) is None:
        raise ValueError(text)
    seconds = 0.0
    for part in text.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


class Clock:
    """The clocks of both sides; at most one runs. All times are in seconds."""

    def __init__(
        self, base: float, increment: float, left: tuple[float, float] | None = None
    ) -> None:
        """Set White's and Black's remaining times to ``left``, or to ``base`` if it is None."""
        self.base = base
        self.increment = increment
        self._left = list(left or (base, base))
        self._history: list[tuple[float, float]] = []
        """Times at the start of each move, for `take_back`."""
        self.running: int | None = None
        """The side whose clock runs, or None."""
        self._since = 0.0

    def left(self, side: int) -> float:
        """Return a side's remaining time; it may be negative."""
        spent = monotonic() - self._since if side == self.running else 0.0
        return self._left[side] - spent

    def run(self, side: int | None) -> None:
        """Start a side's clock and stop the other clock; None stops both."""
        if side == self.running:
            return
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
        self.running, self._since = side, monotonic()

    def press(self, side: int) -> None:
        """End a side's move: stop its clock, and add the increment if the clock was running."""
        self._history.append((self._left[WHITE], self._left[BLACK]))
        was_running = self.running == side
        self.run(None)
        if was_running:
            self._left[side] += self.increment

    def take_back(self, moves: int) -> None:
        """Restore the times before the last ``moves`` moves."""
        self.run(None)
        for _ in range(moves):
            if self._history:
                self._left = list(self._history.pop())

    def replay(self, moves: int) -> None:
        """Record that ``moves`` moves are played again after a take-back, without using time."""
        self.run(None)
        self._history += [(self._left[WHITE], self._left[BLACK])] * moves
