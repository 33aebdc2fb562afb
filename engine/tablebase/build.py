"""Building tables: sector by sector, each solved in memory, then written.

A sector comes after those that its moves lead to. What is finished stays: a build that was
interrupted resumes with the sector it was in, or in the placing phase with the slice.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.core import solver
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import (
    DEPTHS,
    VALUES,
    Header,
    TableError,
    Tally,
    check_rules,
    checksum,
    file_name,
    rule_fields,
    rules_folder,
)
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import AnySector, Sector, sectors
from merels.engine.tablebase.solving.placing import Slice, SliceSolver, slices
from merels.engine.tablebase.solving.retrograde import SectorSolver
from merels.engine.tablebase.solving.worker_pool import WorkerPool
from merels.engine.tablebase.storage import locked, remove_drafts, write_table


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is: what it solves, places done and to do in all, seconds since it began."""

    step: str
    done: float
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        """Places a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float:
        """Seconds left, at the rate so far."""
        return (self.total - self.done) / self.rate if self.rate else 0.0


@dataclass
class Builder:
    """Builds the tables of one rule set below a folder.

    ``memory`` bounds what solving a sector may take, in bytes; ``depths`` keeps the depths to
    conversion, too; ``report`` is called a few times a second by the thread that builds.
    """

    root: Path
    rules: Rules
    _: KW_ONLY
    threads: int = 1
    memory: int | None = None
    depths: bool = False
    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        check_rules(self.rules)
        self.folder = self.root / rules_folder(self.rules)
        self.tables = Tables(self.rules)
        self.rebuilt: list[str] = []
        """The faults of the files that were built again."""
        self._started: float | None = None
        self._done = 0.0
        self._total = 0

    def build(self, men: int, placing: bool = False) -> Tables:
        """Build or complete the tables of all sectors of up to ``men`` men, and open them.

        Those of the placing phase, in which men in hand count, only where ``placing``.
        """
        moving, rest = sectors(men), slices(self.rules, men) if placing else []
        for sector in moving:
            needed = solver.sector_memory(*sector, self.depths)
            self._check_memory(str(sector), needed, self.depths)
        for group in rest:
            self._check_memory(str(group), group.memory(self.rules))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(self.folder), f"cannot be made ({error.strerror})") from error
        self._total = sum(sector.places for sector in moving) + sum(one.places for one in rest)
        # One pool for all: as its threads end, an interrupt can be lost in a callback of theirs.
        with locked(self.folder), ThreadPoolExecutor(self.threads) as pool:
            remove_drafts(self.folder)
            workers = WorkerPool(pool, self.threads)
            for sector in moving:
                if self._missing([sector]):
                    self._begin(sector.places // 4 + (sector.places if self.depths else 0), sector)
                    self._guard(sector, self._solve, sector, workers)
                    self._finish(sector, sector.places)
            for group in rest:
                if missing := self._missing(group.sectors):
                    self._begin(sum(sector.places for sector in missing) // 4, group)
                    self._guard(group, self._solve_slice, group, missing, workers)
                    self._finish(group, sum(sector.places for sector in missing))
        return self.tables

    def _missing(self, sectors: Sequence[AnySector]) -> list[AnySector]:
        """Open what is there and sound; the sectors that must be built."""
        missing = []
        for sector in sectors:
            known = len(self.tables.problems)
            sound = self._reuse(sector)
            self.tables.release()
            if not sound:
                missing.append(sector)
                self.rebuilt += self.tables.problems[known:]
                del self.tables.problems[known:]
        return missing

    def _begin(self, size: int, what: Sector | Slice) -> None:
        """Begin to solve what needs ``size`` bytes on the disk; `InputError` without them."""
        if self._started is None:
            self._started = time.monotonic()
        free = shutil.disk_usage(self.folder).free
        if free < size:
            raise InputError(
                str(self.folder),
                f"{what} needs {size / 1e6:.1f} MB and {free / 1e6:.1f} MB are free. "
                "All finished tables are kept: free the space and repeat the command",
            )

    def _finish(self, what: Sector | Slice, places: int) -> None:
        self._done += places
        self._tell(str(what), 0.0)

    def _tell(self, step: str, places: float) -> None:
        """Report progress: the finished steps, and the places done in the present one."""
        if self.report is not None and self._started is not None:
            seconds = time.monotonic() - self._started
            self.report(Progress(step, self._done + places, self._total, seconds))

    def _check_memory(self, what: str, needed: int, depths: bool = False) -> None:
        """Refuse what the bound on memory does not allow."""
        if self.memory is not None and needed > self.memory:
            raise InputError(
                f"{self.memory / 2**30:.2f} GiB",
                f"{what} needs {needed / 2**30:.2f} GiB of memory"
                + (" (less without depths)" if depths else ""),
            )

    def _reuse(self, sector: AnySector) -> bool:
        """Open a sector that is there and sound; False where it must be built."""
        if not (self.folder / file_name(sector, VALUES)).exists():
            return False
        known = len(self.tables.problems)
        try:
            self.tables.load(self.folder, sector, check=True)
        except TableError as error:
            self.tables.problems.append(str(error))
            return False
        # Depths are of the moving phase.
        if self.depths and not sector.hand:
            there = (self.folder / file_name(sector, DEPTHS)).exists()
            if not there or len(self.tables.problems) > known:
                return False
        self._total -= sector.places
        return True

    def _guard(self, what: Sector | Slice, solve: Callable[..., None], *arguments: object) -> None:
        """Solve something; `InputError` where that fails."""
        try:
            solve(*arguments)
        except TableError as error:
            raise InputError(str(self.folder), str(error)) from error
        except (MemoryError, RuntimeError) as error:
            # Without memory the system starts no thread either.
            raise InputError(str(what), f"cannot be solved: {error}") from error

    def _solve(self, sector: Sector, workers: WorkerPool) -> None:
        """Solve a sector of the moving phase, write its files and open them."""

        def report(level: int, share: float) -> None:
            self._tell(f"{sector} ply {level}", min(share, 1.0) * sector.places)

        solver = SectorSolver(self.tables, sector, self.depths, workers, report)
        tallies = solver.solve()
        tables = range(len(tallies))
        depths = [solver.core.depths(table) for table in tables] if self.depths else []
        self._write(sector, tallies, [solver.core.values(table) for table in tables], depths)

    def _solve_slice(self, group: Slice, missing: Sequence[AnySector], workers: WorkerPool) -> None:
        """Solve a slice of the placing phase, write the files that are missing and open them."""
        places = sum(sector.places for sector in missing)
        solver = SliceSolver(
            self.tables, group, workers, lambda share: self._tell(str(group), share * places)
        )
        for sector, tally, values in solver.solve():
            if sector in missing:
                self._write(sector, (tally,), [values], [])

    def _write(
        self,
        sector: AnySector,
        tallies: tuple[Tally, ...],
        values: list[memoryview],
        depths: list[memoryview],
    ) -> None:
        """Write a sector's files, its values last, which mark it as finished, and open them."""
        sum_of_values = checksum(values)
        header = Header(
            VALUES,
            sector,
            rule_fields(self.rules),
            sector.table_places,
            tallies,
            checksum=sum_of_values,
            values_checksum=sum_of_values,
        )
        if depths:
            of_depths = replace(
                header, kind=DEPTHS, checksum=checksum(depths), list_sizes=tuple(map(len, depths))
            )
            write_table(self.folder / file_name(sector, DEPTHS), [of_depths.pack(), *depths])
        write_table(self.folder / file_name(sector, VALUES), [header.pack(), *values])
        self.tables.load(self.folder, sector)
