"""Faults of the engines in a journal: counts, and the engines that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.statistics.terminations import BLAMELESS, FAULTS

FAILING_SHARE = 0.05
"""Share of an engine's games, lost by its own fault, from which it fails: see `ENOUGH`."""
ENOUGH = 2
"""Games, of that share or the last without a legal move, that make an engine fail."""
_QUERY = (
    "SELECT number, white, black, result, termination, reason, moves <> '', instr(moves, ' ') > 0 "
    "FROM games ORDER BY number"
)
_SHORT = "SELECT 1 FROM games WHERE instr(moves, ' ') = 0 LIMIT 1"
"""Looks for a game in which not both sides moved: without one, no engine fails before its move."""


@dataclass(frozen=True, slots=True)
class Failing:
    """An engine that lost its last ``games``, from number ``first`` on, without a legal move.

    ``reason`` is how the last of them ended.
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
                failing[name] = Failing(name, before.games + 1, before.first, reason)
            elif begun:
                failing.pop(name, None)
                moved.add(name)
    return [one for one in failing.values() if one.games >= ENOUGH or one.name not in moved]


@dataclass(slots=True)
class Health:
    """The faults of one engine."""

    games: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Lost games by `FAULTS`."""
    late: int = 0
    junk: int = 0

    @property
    def is_failing(self) -> bool:
        """Whether its faults are `FAILING_SHARE` of its games or more, and `ENOUGH`."""
        return self.faults.total() >= max(ENOUGH, FAILING_SHARE * self.games)

    def as_dict(self) -> dict[str, int]:
        """The counts by name, as in JSON."""
        faults = {many.replace(" ", "_"): self.faults[name] for name, (_, many) in FAULTS.items()}
        return {
            "games": self.games, **faults, "late_answers": self.late, "junk_lines": self.junk
        }

    def __str__(self) -> str:
        faults = ", ".join(
            f"{self.faults[name]} {words[self.faults[name] > 1]}"
            for name, words in FAULTS.items() if self.faults[name]
        )
        total, games = self.faults.total(), counted(self.games, "game")
        return f"failed in {total} of {games} ({total / self.games:.1%}): {faults}"


class HealthCounter:
    """Counts faults game by game."""

    def __init__(self) -> None:
        self.engines: dict[str, Health] = {}

    def add(self, row: Row, keys: tuple[str, str] | None = None) -> None:
        """Count a game; ``keys`` are those of White and Black, unless those are their names."""
        keys = keys or (row.white, row.black)
        culprit, fault = row.culprit, row.cause
        for key, name, oddities in zip(keys, (row.white, row.black), row.both_oddities()):
            health = self.engines.setdefault(key, Health())
            health.games += 1
            health.late += oddities.late
            health.junk += oddities.junk
            if name == culprit:
                health.faults[fault] += 1

    def relabelled(self, labels: Mapping[str, str]) -> dict[str, Health]:
        """The counts by label; one label may cover several keys."""
        merged: dict[str, Health] = {}
        for key, health in self.engines.items():
            own = merged.setdefault(labels[key], Health())
            own.games += health.games
            own.faults.update(health.faults)
            own.late += health.late
            own.junk += health.junk
        return merged


def health_of(journal: Journal) -> dict[str, Health]:
    """The faults of each engine of a journal."""
    counter = HealthCounter()
    for row in journal.results():
        counter.add(row)
    return counter.engines


def warnings(healths: Mapping[str, Health], stopped: Iterable[Failing]) -> list[str]:
    """A sentence for each engine that fails; ``stopped`` are those of `failing_engines`."""
    sentences = {name: f"{name} {health}" for name, health in healths.items() if health.is_failing}
    sentences |= {failing.name: str(failing) for failing in stopped}
    return [printable(sentence) for sentence in sentences.values()]
