"""The placing phase: solved slice by slice, each from the positions two placements later."""

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
from merels.engine.tablebase.sectors import MAX_MEN, PlacingSector, kept_placing_sectors
from merels.engine.tablebase.solving.worker_pool import WorkerPool

READ, REPLY, REMOVE, PLACE, WRITE = solver.PLACING_STAGES
_SHARES = {READ: 0.3, REPLY: 0.25, REMOVE: 0.05, PLACE: 0.15, WRITE: 0.25}
"""Roughly the share of the work on a slice that each stage takes."""


class Slice(NamedTuple):
    """The sectors with ``hand`` men in hand and ``own`` men of the side to move on the board."""

    hand: int
    own: int
    sectors: tuple[PlacingSector, ...]

    @property
    def places(self) -> int:
        """The places in its tables together."""
        return sum(sector.places for sector in self.sectors)

    def memory(self, rules: Rules) -> int:
        """Bytes that solving it takes, the mapped files of other sectors left out."""
        return solver.slice_memory(core_rules(rules), self.own)

    def __str__(self) -> str:
        return f"{self.own}-{self.sectors[0].opponent}…{self.sectors[-1].opponent}+{self.hand}"


def slices(rules: Rules, men: int = MAX_MEN) -> list[Slice]:
    """All slices of up to ``men`` men, each after those that follow it in the game."""
    found = groupby(
        kept_placing_sectors(rules, men), key=lambda sector: (sector.hand, sector.own)
    )
    return [Slice(*numbers, tuple(members)) for numbers, members in found]


@dataclass
class SliceSolver:
    """Solves a slice; ``tables`` has those of the positions two placements later.

    ``report`` is called with the share of the slice that is done.
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

    def solve(self) -> Iterator[tuple[PlacingSector, Tally, memoryview]]:
        """Solve the slice: each sector, its tally, and its table, which serves until the next."""
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
        """Begin a stage, or a part of it, and work on it until it is done."""
        share = _SHARES[stage] * part
        self.core.begin(stage, opponent, removed)
        self.workers.work(self.core, lambda: self.report(self._share + share * self.core.done))
        self._share += share
