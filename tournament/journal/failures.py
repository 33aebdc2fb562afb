"""Engines that have stopped playing, as the journal shows them."""

from __future__ import annotations

from dataclasses import dataclass

from merels.tournament.journal.journal import Journal
from merels.tournament.statistics.terminations import BLAMELESS

ENOUGH = 2
"""Games in a row without a move, after which an engine that had moved before counts as failing."""
_QUERY = (
    "SELECT number, white, black, result, termination, reason, moves <> '', instr(moves, ' ') > 0 "
    "FROM games ORDER BY number"
)

_SHORT = "SELECT 1 FROM games WHERE instr(moves, ' ') = 0 LIMIT 1"
"""Looks for a game in which not both sides moved: without one, no engine fails before its move."""


@dataclass(frozen=True, slots=True)
class Failing:
    """An engine that lost its last ``games``, from number ``first`` on, without a legal move.

    ``reason`` is how the last of them ended that says more than that the engine was withdrawn.
    """

    name: str
    games: int
    first: int
    reason: str

    def __str__(self) -> str:
        many = "its last game" if self.games == 1 else f"its last {self.games} games"
        return (
            f"{self.name} played no legal move in {many}, from game {self.first} on; "
            f"the reason was: {self.reason}"
        )


def failing_engines(journal: Journal) -> list[Failing]:
    """The engines that to the end, in `ENOUGH` games or all of them, failed before a legal move.

    Games that a worker broke off, and those that the opponent failed in before the engine could
    move, say nothing about it.
    """
    if not list(journal.query(_SHORT)):
        return []
    failing: dict[str, Failing] = {}
    moved: set[str] = set()
    for number, white, black, result, termination, reason, begun, both in journal.query(_QUERY):
        losers = {"1-0": (black,), "0-1": (white,), "*": (white, black)}.get(result, ())
        culprits = () if termination in (*BLAMELESS, "unterminated") else losers
        for name in (white, black):
            # The one at fault is the one to move: after one move it has not moved yet.
            if name in culprits and not both:
                before = failing.get(name, Failing(name, 0, number, reason))
                why = before.reason if "withdrawn" in reason else reason
                failing[name] = Failing(name, before.games + 1, before.first, why)
            elif begun:
                failing.pop(name, None)
                moved.add(name)
    return [one for one in failing.values() if one.games >= ENOUGH or one.name not in moved]
