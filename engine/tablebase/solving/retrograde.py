"""Solver of the moving phase: retrograde analysis of a sector, one depth at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from merels.engine.core import solver
from merels.engine.core.convert import core_rules
from merels.engine.tablebase.files import Tally
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import Sector
from merels.engine.tablebase.solving.worker_pool import WorkerPool

REMOVALS, FIRST_A, FIRST_B, LEVEL, PACK = solver.STAGES
_START_SHARE = 0.5
"""Estimated share of the work on a sector that comes before its first level."""


@dataclass
class SectorSolver:
    """Solves a sector; ``tables`` must have the sectors that its removals lead to.

    ``report`` is called with the level (depth in plies) and an estimate of the share of the sector
    that is done, from 0 to 1; if there are draws, it stays below 1. ``depths``: store depths, too.
    """

    tables: Tables
    sector: Sector
    depths: bool
    workers: WorkerPool
    report: Callable[[int, float], None]

    def __post_init__(self) -> None:
        self.core = solver.Retrograde(
            core_rules(self.tables.rules), *self.sector[:2], self.depths, self.tables.core
        )
        self._share = 0.0

    def solve(self) -> tuple[Tally, ...]:
        """Solve the sector; return the tally of each table. ``core`` then holds the tables."""
        for stage in (REMOVALS, FIRST_A, FIRST_B):
            self._work(stage)
            self._share += _START_SHARE / 3
        # The longest win and loss of each table, in plies; a blocked loss has depth 0.
        longest: list[list[int | None]] = [
            [None, 0 if has_blocked else None] for has_blocked in self.core.blocked()
        ]
        limit = self.sector.plies_limit(self.tables.rules)
        level = 1
        while not limit or level <= limit:
            self._work(LEVEL, level)
            settled = self.core.settled
            for table, counts in enumerate(settled):
                for kind, count in enumerate(counts):
                    if count:
                        longest[table][kind] = level
            number = sum(map(sum, settled))
            if not number:
                break
            self._share += (1 - _START_SHARE) * number / (2 * self.core.places)
            level += 1
        self._work(PACK)
        return tuple(
            Tally(*self.core.tallies[table], *longest[table])
            for table in range(len(self.sector.sides))
        )

    def _work(self, stage: int, level: int = 0) -> None:
        """Do all work of a stage; ``level`` is in plies."""

        def report() -> None:
            share = self.core.done * _START_SHARE / 3 if stage < LEVEL else 0.0
            self.report(level, self._share + share)

        self.core.begin(stage, level)
        self.workers.work(self.core, report)
