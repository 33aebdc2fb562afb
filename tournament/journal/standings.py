"""Counts of finished games: results, faults of the engines, and losses on time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.tournament.journal.rows import Row
from merels.tournament.statistics.counts import (
    Counts,
    GameScore,
    MatchCounter,
    MatchCounts,
    counts_between,
)
from merels.tournament.statistics.terminations import FAULTS, EndingCounter

FAILING_SHARE = 0.05
"""Least share of its games that a failing engine has lost by its own faults."""
LEAST_FAULTS = 2
"""A failing engine has at least this number of faults, or of last games without a legal move."""


@dataclass(slots=True)
class Health:
    """Faults of one engine; ``late_answers`` and ``junk_lines`` as in `Oddities`."""

    games: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Lost games by fault, see `FAULTS`."""
    late_answers: int = 0
    junk_lines: int = 0
    has_moved: bool = False
    """Whether the engine played a legal move in any game."""
    moveless: int = 0
    """Games since its last legal move that the engine lost by a fault before it moved."""
    first_moveless: int = 0
    """Number of the first of the `moveless` games."""
    reason: str = ""
    """Reason of the loss in the last of the `moveless` games."""

    @property
    def is_failing(self) -> bool:
        """Whether its faults reach both `FAILING_SHARE` and `LEAST_FAULTS`."""
        return self.faults.total() >= max(LEAST_FAULTS, FAILING_SHARE * self.games)

    @property
    def plays_no_more(self) -> bool:
        """Whether it lost its last games, or all of its few games, without a legal move."""
        return self.moveless >= LEAST_FAULTS or self.moveless > 0 and not self.has_moved

    def as_dict(self) -> dict[str, int]:
        """Return the counts by their names in JSON."""
        faults = {
            plural.replace(" ", "_"): self.faults[name] for name, (_, plural) in FAULTS.items()
        }
        return {
            "games": self.games, **faults,
            "late_answers": self.late_answers, "junk_lines": self.junk_lines,
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
        """Count a game; ``keys`` are the players' keys of a `Roster`, by default their names.

        Only the first two moves of the game are read.
        """
        names = row.white, row.black
        culprit, has_moved = row.culprit, (bool(row.moves), " " in row.moves)
        for key, name, moved, oddities in zip(
            keys or names, names, has_moved, row.both_oddities()
        ):
            health = self.engines.setdefault(key, Health())
            health.games += 1
            health.late_answers += oddities.late_answers
            health.junk_lines += oddities.junk_lines
            if name == culprit:
                health.faults[row.cause] += 1
            if moved:
                health.has_moved, health.moveless, health.first_moveless = True, 0, 0
            elif name == culprit:
                health.first_moveless = health.first_moveless or row.number
                health.moveless += 1
                health.reason = row.reason


def failure_warnings(healths: Mapping[str, Health]) -> list[str]:
    """Return a sentence for each engine that is failing or makes no legal move."""
    sentences = []
    for name, health in healths.items():
        if health.plays_no_more:
            games = "its last game"
            if health.moveless > 1:
                games = f"its last {health.moveless} games"
            sentences.append(
                f"{name} played no legal move in {games}, from game {health.first_moveless} on; "
                f"the reason was: {health.reason}"
            )
        elif health.is_failing:
            sentences.append(f"{name} {health}")
    return list(map(printable, sentences))


@dataclass(slots=True)
class TimeLosses:
    """Games lost on time, by cause; the fields are keys of the JSON report."""

    games: int = 0
    """Number of all games."""
    caused: int = 0
    """Games lost on time through delays of the runner or the machine."""
    others: int = 0
    """Other games lost on time; not counted if the journal has no overtime of the last move."""

    def add(self, row: Row) -> None:
        """Count a game."""
        self.games += 1
        if (lost := row.lost_move()) is not None:
            self.caused += lost.excused
            self.others += not lost.excused

    def lines(self) -> list[str]:
        """Return the counts in sentences; empty if no game was lost on time."""
        if not self.caused + self.others:
            return []

        def part(games: int) -> str:
            return f"{games} of {counted(self.games, 'game')} ({100 * games / self.games:.1f}%)"

        remedies = "Against such losses: a lower -concurrency, timemargin=MS, -use-affinity"
        return [
            f"Time losses through delays by the runner or the machine: {part(self.caused)}",
            *([remedies] if self.caused else []),
            f"Other time losses: {part(self.others)}",
        ]


class Standings:
    """Counts of the games added so far."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.finished = 0
        """Number of games added, including those without a result."""
        self._counter = MatchCounter()
        self.matches: Counts = self._counter.counts
        """Counts by match, of games with a result."""
        self.endings = EndingCounter()
        self.health = HealthCounter()
        self.losses = TimeLosses()

    def add(self, row: Row) -> None:
        """Count a finished game; only its first two moves are read."""
        self.finished += 1
        if row.white_score is not None:
            self._counter.add(GameScore(row.white, row.black, row.white_score, row.pair))
        self.endings.add(row.ending)
        self.health.add(row)
        self.losses.add(row)

    def counts(self, first: str, second: str) -> MatchCounts:
        """Return the counts of two engines, seen from the first."""
        return counts_between(self.matches, first, second)

    def in_entry_order(self, first: str, second: str) -> tuple[str, str]:
        """Return the names of two engines in their order of entry."""
        is_ordered = self.names.index(first) < self.names.index(second)
        return (first, second) if is_ordered else (second, first)
