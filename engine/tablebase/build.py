"""Building tables, one sector at a time: solve it in memory, then write its files.

A sector is solved after the sectors that its moves lead to. An interrupted build keeps all finished
files and resumes with the unfinished sector or, in the placing phase, the unfinished slice.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.core import solver
from merels.engine.core.convert import core_rules
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
from merels.engine.tablebase.sectors import MAX_MEN, Sector, kept_placing_sectors, sectors
from merels.engine.tablebase.storage import prepared, write_table

_REPORT_EVERY = 0.25
"""Seconds between reports."""


class Slice(NamedTuple):
    """The sectors with ``hand`` men in hand and ``own`` men of the side to move on the board.

    They are solved together.
    """

    hand: int
    own: int
    sectors: tuple[Sector, ...]

    @property
    def places(self) -> int:
        """Number of places in all tables."""
        return sum(sector.places for sector in self.sectors)

    def __str__(self) -> str:
        return f"{self.own}-{self.sectors[0].opponent}…{self.sectors[-1].opponent}+{self.hand}"


def slices(rules: Rules, men: int = MAX_MEN) -> list[Slice]:
    """Return all slices up to ``men`` men, each after the slices that its placements lead to."""
    groups = groupby(
        kept_placing_sectors(rules, men), key=lambda sector: (sector.hand, sector.own)
    )
    return [Slice(*numbers, tuple(members)) for numbers, members in groups]


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
        check_rules(self.rules)
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
        moving, groups = sectors(men), slices(self.rules, men) if placing else []
        for sector in moving:
            needed = solver.sector_memory(*sector[:2], self.depths)
            self._check_memory(str(sector), needed, self.depths)
        for group in groups:
            self._check_memory(str(group), solver.slice_memory(core_rules(self.rules), group.own))
        self._total = sum(sector.places for sector in moving)
        self._total += sum(group.places for group in groups)
        # One pool for the whole build: Ctrl-C can be lost while the threads of a pool end.
        with prepared(self.folder), ThreadPoolExecutor(self.threads) as pool:
            for sector in moving:
                if self._missing([sector]):
                    self._begin(sector.places // 4 + (sector.places if self.depths else 0), sector)
                    self._guard(sector, self._solve, sector, pool)
                    self._finish(sector, sector.places)
            for group in groups:
                if missing := self._missing(group.sectors):
                    self._begin(sum(sector.places for sector in missing) // 4, group)
                    self._guard(group, self._solve_slice, group, missing, pool)
                    self._finish(group, sum(sector.places for sector in missing))
        return self.tables

    def _missing(self, sectors: Sequence[Sector]) -> list[Sector]:
        """Open the valid files of some sectors; return the sectors that must be built."""
        missing = []
        for sector in sectors:
            old_problems = len(self.tables.problems)
            reused = self._reuse(sector)
            self.tables.release()
            if not reused:
                missing.append(sector)
                self.rebuilt += self.tables.problems[old_problems:]
                del self.tables.problems[old_problems:]
        return missing

    def _begin(self, size: int, step: Sector | Slice) -> None:
        """Start the clock; `InputError` if fewer than ``size`` bytes of the disk are free."""
        if self._started is None:
            self._started = time.monotonic()
        free = shutil.disk_usage(self.folder).free
        if free < size:
            raise InputError(
                str(self.folder),
                f"{step} needs {size / 1e6:.1f} MB, but only {free / 1e6:.1f} MB are free. "
                "All finished tables are kept: free some space and repeat the command",
            )

    def _finish(self, step: Sector | Slice, places: int) -> None:
        self._done += places
        self._report(str(step), 0.0)

    def _report(self, step: str, places: float) -> None:
        """Report progress; ``places`` are those done in the unfinished step."""
        if self.report is not None and self._started is not None:
            seconds = time.monotonic() - self._started
            self.report(Progress(step, self._done + places, self._total, seconds))

    def _check_memory(self, step: str, needed: int, depths: bool = False) -> None:
        """Raise `InputError` if ``needed`` bytes exceed the memory limit."""
        if self.memory is not None and needed > self.memory:
            raise InputError(
                f"{self.memory / 2**30:.2f} GiB",
                f"{step} needs {needed / 2**30:.2f} GiB of memory; raise the limit"
                + (", or build without depths" if depths else ""),
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

    def _guard(self, step: Sector | Slice, solve: Callable[..., None], *arguments: object) -> None:
        """Call ``solve``; convert its failures to `InputError`."""
        try:
            solve(*arguments)
        except TableError as error:
            raise InputError(str(self.folder), str(error)) from error
        except (MemoryError, RuntimeError) as error:
            # RuntimeError: the system refused to start a thread, usually for lack of memory.
            raise InputError(str(step), f"cannot be solved: {error}") from error

    def _solve(self, sector: Sector, pool: ThreadPoolExecutor) -> None:
        """Solve a sector of the moving phase, write its files and open them."""
        solved = solver.Retrograde(
            core_rules(self.rules), *sector[:2], self.depths, self.tables.core
        )
        while solved.advance():
            self._work(solved, pool, f"{sector} ply {solved.level}", sector.places)
        tables = range(len(sector.sides))
        depths = [solved.depths(table) for table in tables] if self.depths else []
        tallies = tuple(Tally(*solved.tally(table)) for table in tables)
        self._write(sector, tallies, [solved.values(table) for table in tables], depths)

    def _solve_slice(
        self, group: Slice, missing: Sequence[Sector], pool: ThreadPoolExecutor
    ) -> None:
        """Solve a slice of the placing phase, write its missing files and open them."""
        places = sum(sector.places for sector in missing)
        solved = solver.PlacingSlice(
            core_rules(self.rules), group.hand, group.own,
            [sector.opponent for sector in missing], self.tables.core,
        )
        while solved.advance():
            self._work(solved, pool, str(group), places)
            self.tables.release()
            if solved.written is not None:
                opponent, tally, values = solved.written
                sector = Sector(group.own, opponent, group.hand)
                self._write(sector, (Tally(*tally, None, None),), [values], [])

    def _work(
        self, solved: solver.Retrograde | solver.PlacingSlice, pool: ThreadPoolExecutor,
        step: str, places: int,
    ) -> None:
        """Run a stage with all threads; ``step`` and its ``places`` are for the reports."""
        try:
            futures = [pool.submit(solved.work) for _ in range(self.threads)]
            while wait(futures, _REPORT_EVERY).not_done:
                self._report(step, solved.done * places)
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
