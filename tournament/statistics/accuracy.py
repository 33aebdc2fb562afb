"""Accuracy of engines' moves against tablebase values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from merels.engine.tablebase.verdict import PHASES, PlayedMove, Verdict

BLUNDERS = {(1, 0): "win_to_draw", (1, -1): "win_to_loss", (0, -1): "draw_to_loss"}
"""Names of the counters of blunders, by the values before and after the move."""


@dataclass(slots=True)
class MoveCounts:
    """Counts of moves. Every count except ``moves`` covers judged moves only."""

    moves: int = 0
    judged: int = 0
    """Moves in positions where the tables cover every legal move."""
    held: int = 0
    """Moves that kept the proven value."""
    critical: int = 0
    """Moves in positions where at most a third of the legal moves keep the value."""
    critical_held: int = 0
    win_to_draw: int = 0
    win_to_loss: int = 0
    draw_to_loss: int = 0
    in_doubt: int = 0
    """Blunders whose value before the move is uncertain: a ply limit or repetition may apply."""

    def add(self, verdict: Verdict | None) -> None:
        """Count a move; ``verdict`` is None if the tables do not judge it."""
        self.moves += 1
        if verdict is None:
            return
        self.judged += 1
        self.critical += verdict.critical
        if verdict.held:
            self.held += 1
            self.critical_held += verdict.critical
        else:
            name = BLUNDERS[verdict.value, verdict.after]
            setattr(self, name, getattr(self, name) + 1)
            self.in_doubt += not verdict.certain


def sum_counts(counts: Iterable[MoveCounts]) -> MoveCounts:
    """Return the sum of several counts."""
    rows = list(counts)
    names = [counter.name for counter in fields(MoveCounts)]
    return MoveCounts(*(sum(getattr(row, name) for row in rows) for name in names))


@dataclass(slots=True)
class EngineAccuracy:
    """One engine's moves by phase."""

    phases: dict[str, MoveCounts] = field(
        default_factory=lambda: {phase: MoveCounts() for phase in PHASES}
    )

    @property
    def total(self) -> MoveCounts:
        """Counts of all phases together."""
        return sum_counts(self.phases.values())

    def merge(self, other: EngineAccuracy) -> None:
        """Add moves of the same engine that were counted separately."""
        for phase, counts in other.phases.items():
            self.phases[phase] = sum_counts((self.phases[phase], counts))


class Coverage(NamedTuple):
    """Positions that the tables of a rule set cover.

    ``whole``: all positions of the game. ``men``: all positions of up to this number of men, with
    none in hand.
    """

    men: int
    whole: bool


@dataclass(slots=True)
class Accuracy:
    """Accuracy of several engines, by engine in order of appearance."""

    engines: dict[str, EngineAccuracy] = field(default_factory=dict)
    games: int = 0
    coverage: dict[str, Coverage] = field(default_factory=dict)
    """Coverage of the tables, by rule set."""
    has_all_depths: bool = True
    """Whether all tables store depths."""

    @property
    def total(self) -> MoveCounts:
        """Counts of all engines together."""
        return sum_counts(engine.total for engine in self.engines.values())

    def add(self, white: str, black: str, moves: Iterable[PlayedMove]) -> None:
        """Count the moves that two engines chose in a game, without its opening."""
        self.games += 1
        engines = [self.engines.setdefault(name, EngineAccuracy()) for name in (white, black)]
        for move in moves:
            engines[move.side].phases[move.phase].add(move.verdict)
