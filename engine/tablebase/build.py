"""Building tables by retrograde analysis: sector by sector, each solved in memory, then written.

A sector comes after those that its removals lead to. What is finished stays: a build that was
interrupted resumes with the sector it was in.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from merels.engine.core import core
from merels.engine.core.convert import core_rules
from merels.engine.game.errors import InputError
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
from merels.engine.tablebase.storage import PARTIAL, locked, write_whole

REMOVALS, FIRST_A, FIRST_B, LEVEL, PACK = core.STAGES
_REPORT_EVERY = 0.25
"""Seconds."""
_START_SHARE = 0.5
"""Roughly the share of the work on a sector that comes before its first level."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is: the sector, places done and to do in all, seconds since it began.

    ``level`` is the depth in plies that is being solved, 0 before the first.
    """

    sector: AnySector
    level: int
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
        self.mended: list[str] = []
        """What was wrong with the files that were built again."""
        self._started: float | None = None
        self._done = 0.0
        self._total = 0

    def build(self, men: int) -> Tables:
        """Build or complete the tables of all sectors of up to ``men`` men, and open them."""
        todo = sectors(men)
        for sector in todo:
            self._check_memory(sector)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(self.folder), f"cannot be made ({error.strerror})") from error
        self._total = sum(sector.places for sector in todo)
        # One pool for all: as its threads end, an interrupt can be lost in a callback of theirs.
        with locked(self.folder), ThreadPoolExecutor(self.threads) as pool:
            self._remove_partial_files()
            for sector in todo:
                known = len(self.tables.problems)
                if self._reuse(sector):
                    continue
                self.mended += self.tables.problems[known:]
                del self.tables.problems[known:]
                if self._started is None:
                    self._started = time.monotonic()
                self._check_space(sector)
                self._solve(sector, pool)
                self._done += sector.places
                self.tell(sector, 0, 0.0)
        return self.tables

    def tell(self, sector: Sector, level: int, share: float) -> None:
        """Report progress: the finished sectors and the share of this one that is done."""
        if self.report is None or self._started is None:
            return
        done = self._done + min(share, 1.0) * sector.places
        seconds = time.monotonic() - self._started
        self.report(Progress(sector, level, done, self._total, seconds))

    def _check_memory(self, sector: Sector) -> None:
        """Refuse a sector that the bound on memory does not allow."""
        needed = sector.memory(self.depths)
        if self.memory is not None and needed > self.memory:
            raise InputError(
                f"{self.memory / 2**30:.2f} GiB",
                f"{sector} needs {needed / 2**30:.2f} GiB of memory"
                + (" (less without depths)" if self.depths else ""),
            )

    def _check_space(self, sector: Sector) -> None:
        """Refuse a sector that the disk has no room for, before it is solved."""
        needed = sector.places // 4 + (sector.places if self.depths else 0)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise InputError(
                str(self.folder),
                f"{sector} needs {needed / 1e6:.1f} MB and {free / 1e6:.1f} MB are free. "
                "All finished tables are kept: free the space and repeat the command",
            )

    def _remove_partial_files(self) -> None:
        """Remove what a killed build left half-written."""
        for partial in self.folder.glob(f"*{PARTIAL}"):
            try:
                partial.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    str(partial), f"cannot be removed ({error.strerror}); a build would write it"
                ) from error

    def _reuse(self, sector: Sector) -> bool:
        """Open a sector that is there and sound; False where it must be built."""
        if not (self.folder / file_name(sector, VALUES)).exists():
            return False
        known = len(self.tables.problems)
        try:
            self.tables.load(self.folder, sector, check=True)
        except TableError as error:
            self.tables.problems.append(str(error))
            return False
        with_depths = (self.folder / file_name(sector, DEPTHS)).exists()
        if self.depths and (not with_depths or len(self.tables.problems) > known):
            return False
        self._total -= sector.places
        return True

    def _solve(self, sector: Sector, pool: ThreadPoolExecutor) -> None:
        """Solve a sector, write its files and open them; `InputError` where that fails."""
        try:
            solver = core.Retrograde(
                core_rules(self.rules), *sector, self.depths, self.tables.core
            )
            longest = _Stages(self, solver, pool, sector).run()
            self._write(sector, solver, longest)
            self.tables.load(self.folder, sector)
        except TableError as error:
            raise InputError(str(self.folder), str(error)) from error
        except (MemoryError, RuntimeError) as error:
            # Without memory the system starts no thread either.
            raise InputError(str(sector), f"cannot be solved: {error}") from error

    def _write(
        self,
        sector: Sector,
        solver: core.Retrograde,
        longest: list[tuple[int | None, int | None]],
    ) -> None:
        """Write a sector's files, the depths first: its values mark it as finished."""
        tables = range(len(sector.sides))
        values = [solver.values(table) for table in tables]
        sum_of_values = checksum(values)
        header = Header(
            VALUES,
            sector,
            rule_fields(self.rules),
            solver.places,
            tuple(Tally(*solver.tallies[table], *longest[table]) for table in tables),
            checksum=sum_of_values,
            values_checksum=sum_of_values,
        )
        if self.depths:
            depths = [solver.depths(table) for table in tables]
            of_depths = replace(header, kind=DEPTHS, checksum=checksum(depths))
            write_whole(self.folder / file_name(sector, DEPTHS), [of_depths.pack(), *depths])
        write_whole(self.folder / file_name(sector, VALUES), [header.pack(), *values])


@dataclass
class _Stages:
    """The stages of solving one sector, each worked on by all threads."""

    builder: Builder
    solver: core.Retrograde
    pool: ThreadPoolExecutor
    sector: Sector
    share: float = 0.0

    def run(self) -> list[tuple[int | None, int | None]]:
        """Solve the sector; for each table the greatest depth of a win and of a loss."""
        for stage in (REMOVALS, FIRST_A, FIRST_B):
            self._work(stage)
            self.share += _START_SHARE / 3
        longest: list[list[int | None]] = [
            [None, 0 if some else None] for some in self.solver.blocked()
        ]
        limit = self.sector.plies_limit(self.builder.rules)
        level = 1
        while not limit or level <= limit:
            self._work(LEVEL, level)
            settled = self.solver.settled
            for table, kinds in enumerate(settled):
                for kind, number in enumerate(kinds):
                    if number:
                        longest[table][kind] = level
            number = sum(map(sum, settled))
            if not number:
                break
            self.share += (1 - _START_SHARE) * number / (2 * self.solver.places)
            level += 1
        self._work(PACK)
        return [(win, loss) for win, loss in longest]

    def _work(self, stage: int, level: int = 0) -> None:
        """Begin a stage and work on it until it is done."""
        self.solver.begin(stage, level)
        try:
            work = [self.pool.submit(self.solver.work) for _ in range(self.builder.threads)]
            while wait(work, _REPORT_EVERY).not_done:
                begun = self.solver.done * _START_SHARE / 3 if stage < LEVEL else 0.0
                self.builder.tell(self.sector, level, self.share + begun)
        except BaseException:
            self.solver.stop()
            raise
        for future in work:
            future.result()
