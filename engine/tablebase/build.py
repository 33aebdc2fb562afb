"""Building tables, one sector at a time: solve it in memory, then write its files.

A sector is solved after the sectors that its moves lead to. An interrupted build keeps all finished
files and resumes with the unfinished sector or, in the placing phase, the unfinished slice.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.errors import InputError, shortage
from merels.engine.core import solver
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import (
    DEPTHS,
    VALUES,
    Header,
    TableError,
    Tally,
    checksum,
    file_name,
    rule_fields,
    rules_folder,
)
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import MAX_MEN, Sector, kept_placing_sectors, sectors
from merels.engine.tablebase.storage import prepared, write_table

_REPORT_EVERY = 0.25
"""Seconds between reports."""


class Step(NamedTuple):
    """Sectors that are solved together: one of the moving phase, or a slice of the placing phase.

    A slice has the sectors with the same numbers of men in hand and of own men on the board.
    """

    sectors: tuple[Sector, ...]

    @property
    def is_slice(self) -> bool:
        """Whether the sectors are of the placing phase."""
        return self.sectors[0].hand > 0

    @property
    def places(self) -> int:
        """Number of places in all tables."""
        return sum(sector.places for sector in self.sectors)

    def memory(self, rules: Rules, depths: bool) -> int:
        """Return the memory for solving the sectors in bytes, without the mapped table files."""
        own, opponent, _ = self.sectors[0]
        if self.is_slice:
            return solver.slice_memory(core_rules(rules), own)
        return solver.sector_memory(own, opponent, depths)

    def __str__(self) -> str:
        first, last = self.sectors[0], self.sectors[-1]
        return f"{first.own}-{first.opponent}…{last.opponent}+{first.hand}" if self.is_slice else (
            str(first))


def steps(rules: Rules, men: int = MAX_MEN, placing: bool = True) -> list[Step]:
    """Return the steps of a build up to ``men`` men, each after those that its moves lead to."""
    slices = groupby(
        kept_placing_sectors(rules, men) if placing else (),
        key=lambda sector: (sector.hand, sector.own),
    )
    return [
        *(Step((sector,)) for sector in sectors(men)),
        *(Step(tuple(members)) for _, members in slices),
    ]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a build: its sector or slice, places done and in total, seconds so far."""

    step: str
    done: float
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        """Speed in places per second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """Estimated seconds to the end, at the average speed so far."""
        return (self.total - self.done) / self.rate if self.rate else 0.0


@dataclass
class Builder:
    """Builds the tables of one rule set below a folder.

    ``memory`` is the limit for solving one sector or slice, in bytes. ``depths``: also write files
    of depths. ``report`` is called about four times a second, on the thread that calls `build`.
    """

    root: Path
    rules: Rules
    _: KW_ONLY
    threads: int = 1
    memory: int | None = None
    depths: bool = False
    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        self.folder = self.root / rules_folder(self.rules)
        self.tables = Tables(self.rules)
        self.rebuilt: list[str] = []
        """A line for each damaged file that was built again, with the fault."""
        self._started: float | None = None
        self._done = 0.0
        self._total = 0

    def build(self, men: int, placing: bool = False) -> Tables:
        """Build the missing tables of all sectors of up to ``men`` men; return the open tables.

        ``placing`` includes the placing phase, where ``men`` counts men in hand, too. `InputError`
        if the memory limit or the free disk space is too small, or the folder is unusable.
        """
        wanted = steps(self.rules, men, placing)
        for step in wanted:
            self._check_memory(step)
        self._total = sum(step.places for step in wanted)
        # One pool for the whole build: Ctrl-C can be lost while the threads of a pool end.
        with prepared(self.folder), ThreadPoolExecutor(self.threads) as pool:
            for step in wanted:
                if missing := self._missing(step):
                    self._begin(missing)
                    self._solve(missing, pool)
                    self._done += missing.places
                    self._report(missing, 0.0)
        return self.tables

    def _missing(self, step: Step) -> Step | None:
        """Open the valid files of a step; return the step without their sectors, if any is left."""
        missing = []
        for sector in step.sectors:
            old_problems = len(self.tables.problems)
            reused = self._reuse(sector)
            self.tables.release()
            if not reused:
                missing.append(sector)
                self.rebuilt += self.tables.problems[old_problems:]
                del self.tables.problems[old_problems:]
        return Step(tuple(missing)) if missing else None

    def _begin(self, step: Step) -> None:
        """Start the clock; `InputError` if too few bytes of the disk are free."""
        if self._started is None:
            self._started = time.monotonic()
        free = shutil.disk_usage(self.folder).free
        size = step.places // 4 + (step.places if self.depths and not step.is_slice else 0)
        if free < size:
            raise InputError(
                str(self.folder),
                f"{step} needs {size / 1e6:.1f} MB, but only {free / 1e6:.1f} MB are free. "
                "All finished tables are kept: free some space and repeat the command",
            )

    def _report(self, step: Step, share: float, detail: str = "") -> None:
        """Report progress; ``share`` is the part of the step that is done."""
        if self.report is not None and self._started is not None:
            done, seconds = self._done + share * step.places, time.monotonic() - self._started
            self.report(Progress(f"{step}{detail}", done, self._total, seconds))

    def _check_memory(self, step: Step) -> None:
        """Raise `InputError` if a step needs more memory than the limit."""
        needed = step.memory(self.rules, self.depths)
        if self.memory is not None and needed > self.memory:
            advice = ", or build without depths" if self.depths and not step.is_slice else ""
            raise InputError(
                f"{self.memory / 2**30:.2f} GiB",
                f"{step} needs {needed / 2**30:.2f} GiB of memory; raise the limit{advice}",
            )

    def _reuse(self, sector: Sector) -> bool:
        """Open a sector's files; return False if they are missing or damaged."""
        if not (self.folder / file_name(sector, VALUES)).exists():
            return False
        old_problems = len(self.tables.problems)
        try:
            self.tables.load(self.folder, sector, check=True)
        except TableError as error:
            self.tables.problems.append(str(error))
            return False
        # Only sectors of the moving phase have depths.
        if self.depths and not sector.hand:
            exists = (self.folder / file_name(sector, DEPTHS)).exists()
            if not exists or len(self.tables.problems) > old_problems:
                return False
        self._total -= sector.places
        return True

    def _solve(self, step: Step, pool: ThreadPoolExecutor) -> None:
        """Solve a step, write its files and open them; `InputError` if that fails."""
        try:
            if step.is_slice:
                self._solve_slice(step, pool)
            else:
                self._solve_sector(step, pool)
        except TableError as error:
            raise InputError(str(self.folder), str(error)) from error
        except (MemoryError, RuntimeError) as error:
            # RuntimeError: the system refused to start a thread, usually for lack of memory.
            raise InputError(str(step), f"cannot be solved: {shortage(error) or error}") from error

    def _solve_sector(self, step: Step, pool: ThreadPoolExecutor) -> None:
        """Solve a sector of the moving phase."""
        sector = step.sectors[0]
        solved = solver.Retrograde(
            core_rules(self.rules), *sector[:2], self.depths, self.tables.core
        )
        while solved.advance():
            self._work(solved, pool, step, f" ply {solved.level}")
        tables = range(len(sector.tables))
        depths = [solved.depths(table) for table in tables] if self.depths else []
        tallies = tuple(Tally(*solved.tally(table)) for table in tables)
        self._write(sector, tallies, [solved.values(table) for table in tables], depths)

    def _solve_slice(self, step: Step, pool: ThreadPoolExecutor) -> None:
        """Solve a slice of the placing phase."""
        own, _, hand = step.sectors[0]
        opponents = [sector.opponent for sector in step.sectors]
        solved = solver.PlacingSlice(
            core_rules(self.rules), hand, own, opponents, self.tables.core
        )
        while solved.advance():
            self._work(solved, pool, step)
            self.tables.release()
            if solved.written is not None:
                opponent, tally, values = solved.written
                self._write(Sector(own, opponent, hand), (Tally(*tally, None, None),), [values], [])

    def _work(
        self, solved: solver.Retrograde | solver.PlacingSlice, pool: ThreadPoolExecutor,
        step: Step, detail: str = "",
    ) -> None:
        """Run a stage with all threads, and report progress."""
        try:
            futures = [pool.submit(solved.work) for _ in range(self.threads)]
            while wait(futures, _REPORT_EVERY).not_done:
                self._report(step, solved.done, detail)
        except BaseException:
            solved.stop()
            raise
        for future in futures:
            future.result()

    def _write(
        self,
        sector: Sector,
        tallies: tuple[Tally, ...],
        values: list[memoryview],
        depths: list[memoryview],
    ) -> None:
        """Write a sector's files and open them.

        The file of values is written last: it marks the sector as finished.
        """
        sum_of_values = checksum(values)
        header = Header(
            VALUES, sector, rule_fields(self.rules), sector.table_places, tallies,
            checksum=sum_of_values, values_checksum=sum_of_values,
        )  # fmt: skip
        if depths:
            depths_header = replace(
                header, kind=DEPTHS, checksum=checksum(depths), list_sizes=tuple(map(len, depths))
            )
            write_table(self.folder / file_name(sector, DEPTHS), [depths_header.pack(), *depths])
        write_table(self.folder / file_name(sector, VALUES), [header.pack(), *values])
        self.tables.load(self.folder, sector)
