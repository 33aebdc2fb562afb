"""From clocks to a budget: how long a move may take."""

from __future__ import annotations

from typing import NamedTuple

_MOVES_LEFT = 28
"""Moves that a game is taken to last from any point on, when the clock does not say."""
_MINIMUM = 0.2
"""Milliseconds: less than any increment that a runner offers, so that an empty clock recovers."""
_RESERVE = 5
"""Overheads kept on the clock: on a busy machine one move may cost several at once."""
_EASE = 8
"""Overheads on the clock below which the increment is saved rather than spent."""


class Budget(NamedTuple):
    """Milliseconds: after ``soft`` no new iteration starts, after ``hard`` the search is cut."""

    soft: float
    hard: float


def budget(left: int, increment: int, moves_to_go: int | None, overhead: int) -> Budget:
    """What to spend on one move of a clock with ``left`` milliseconds.

    ``overhead`` is what may be lost between the clock and the search in a move; several are kept in
    reserve, and a clock that is down to them grows again by its increments. A clock at or below
    zero still gets the minimum: a late move may be accepted, none cannot.
    """
    usable = left - min(_RESERVE * overhead, max(overhead, left * 7 // 10))
    if usable <= 0:
        return Budget(_MINIMUM, _MINIMUM)
    moves = min(moves_to_go or _MOVES_LEFT, _MOVES_LEFT)
    ease = min(1, left / max(1, _EASE * overhead))
    soft = usable / moves + increment * 0.75 * ease
    # What one move may take is bounded by the clock, so that no series of long moves empties it.
    hard = min(soft * 4, usable if moves == 1 else usable * 0.4)
    return Budget(max(_MINIMUM, min(soft, hard)), max(_MINIMUM, hard))
