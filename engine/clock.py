"""From clocks to a budget: how long a turn may take."""

from __future__ import annotations

from typing import NamedTuple

_TURNS_LEFT = 28
"""Turns that a game is taken to last from any point on, when the clock does not say."""
_MINIMUM = 1


class Budget(NamedTuple):
    """Milliseconds: after ``soft`` no new iteration starts, after ``hard`` the search is cut."""

    soft: int
    hard: int


def budget(left: int, increment: int, moves_to_go: int | None, overhead: int) -> Budget:
    """What to spend on one turn of a clock with ``left`` milliseconds.

    ``overhead`` is kept back for what happens between the clock and the search. A clock at or
    below zero still gets the minimum: a late turn may be accepted, none cannot.
    """
    usable = max(left - overhead, _MINIMUM)
    turns = min(moves_to_go or _TURNS_LEFT, _TURNS_LEFT)
    soft = usable / turns + increment * 0.75
    # What one turn may take is bounded by the clock, so that no series of long turns empties it.
    reserve = usable if turns == 1 else usable * 0.4
    hard = min(soft * 4, reserve)
    return Budget(max(_MINIMUM, int(min(soft, hard))), max(_MINIMUM, int(hard)))
