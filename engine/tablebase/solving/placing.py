"""Solver of the placing phase: one slice at a time, from the positions two placements later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from merels.engine.core import solver
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import MEN_PER_SIDE, Rules
from merels.engine.tablebase.files import Tally
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import MAX_MEN, Sector, kept_placing_sectors
from merels.engine.tablebase.solving.worker_pool import WorkerPool

READ, REPLY, REMOVE, PLACE, WRITE = solver.PLACING_STAGES
_SHARES = {READ: 0.3, REPLY: 0.25, REMOVE: 0.05, PLACE: 0.15, WRITE: 0.25}
"""Estimated share of each stage in the work on a slice."""


class Slice(NamedTuple):
    """The sectors with ``hand`` men in hand and ``own`` men of the side to move on the board."""

    hand: int
    own: int
    sectors: tuple[Sector, ...]

    @property
    def places(self) -> int:
        """Number of places in all tables."""
        return sum(sector.places for sector in self.sectors)

    def memory(self, rules: Rules) -> int:
        """Return the memory for solving the slice in bytes, without the mapped table files."""
        return solver.slice_memory(core_rules(rules), self.own)

    def __str__(self) -> str:
        return f"{self.own}-{self.sectors[0].opponent}…{self.sectors[-1].opponent}+{self.hand}"


def slices(rules: Rules, men: int = MAX_MEN) -> list[Slice]:
    """Return all slices up to ``men`` men, each after the slices that its placements lead to."""
    groups = groupby(
        kept_placing_sectors(rules, men), key=lambda sector: (sector.hand, sector.own)
    )
    return [Slice(*numbers, tuple(members)) for numbers, members in groups]


@dataclass
class SliceSolver:
    """Solves a slice; ``tables`` must have the positions two placements later.

    ``report`` is called with the share of the slice that is done, from 0 to 1.
    """

    tables: Tables
    slice: Slice
    workers: WorkerPool
    report: Callable[[float], None]

    def __post_init__(self) -> None:
        self.core = solver.PlacingSlice(
            core_rules(self.tables.rules), self.slice.hand, self.slice.own, self.tables.core
        )
        self._share = 0.0

    def solve(self) -> Iterator[tuple[Sector, Tally, memoryview]]:
        """Solve the slice; yield each sector with its tally and values.

        The values are overwritten when the next sector is requested.
        """
        own, later = self.slice.own, self.slice.hand - 2
        removals = min(own, 2 if self.tables.rules.double_mill == "each" else 1)
        needed = [
            (opponent, removed)
            for removed in range(removals + 1)
            for opponent in range(MEN_PER_SIDE + 1)
            if self.tables.core.has(own + 1 - removed, opponent, later)
        ]
        for opponent, removed in needed:
            self._work(READ, 1 / len(needed), opponent, removed)
            self.tables.release()
        for stage in (REPLY, REMOVE, PLACE):
            self._work(stage, 1)
        for sector in self.slice.sectors:
            self._work(WRITE, 1 / len(self.slice.sectors), sector.opponent)
            yield sector, Tally(*self.core.tally, None, None), self.core.values

    def _work(self, stage: int, part: float, opponent: int = 0, removed: int = 0) -> None:
        """Do all work of a stage, or of the part for ``opponent`` men and ``removed`` removals.

        ``part`` is the share of this work in the stage.
        """
        share = _SHARES[stage] * part
        self.core.begin(stage, opponent, removed)
        self.workers.work(self.core, lambda: self.report(self._share + share * self.core.done))
        self._share += share
