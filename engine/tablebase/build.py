"""Building tables: pair after pair in the order of removals, each solved in memory, then written.

What is finished stays: a build that is interrupted goes on with the pair it was in.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
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
    locked,
    pairs,
    rule_fields,
    rules_folder,
    write_whole,
)
from merels.engine.tablebase.probe import Tables

REMOVALS, FIRST_A, FIRST_B, LEVEL, PACK = core.STAGES
_REPORT_EVERY = 0.25  # seconds
_FIRST_PART = 0.5  # of the work on a pair, roughly, before its levels begin


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is: the pair, places of all pairs done and to do, seconds since it began.

    ``level`` is the depth in plies that is being settled, 0 before.
    """

    larger: int
    smaller: int
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


Report = Callable[[Progress], None]


def plies_limit(rules: Rules, larger: int, smaller: int) -> int:
    """The plies without a removal that make a draw of a pair's positions; 0: no limit."""
    return core.table_limit(core_rules(rules), larger, smaller)


def places_of(larger: int, smaller: int) -> int:
    """Places of a pair's tables together."""
    places = core.table_places(larger, smaller)
    return places if larger == smaller else 2 * places


def memory_of(larger: int, smaller: int, depths: bool) -> int:
    """Bytes that solving a pair takes, the mapped files of other pairs left out."""
    return core.pair_memory(larger, smaller, depths)


class Builder:
    """Builds the tables of one rule set below a folder.

    ``memory`` bounds what solving a pair may take, in bytes; ``report`` is called some times a
    second by the thread that builds.
    """

    def __init__(
        self,
        root: Path,
        rules: Rules,
        *,
        threads: int = 1,
        memory: int | None = None,
        depths: bool = False,
        report: Report | None = None,
    ) -> None:
        check_rules(rules)
        self.rules = rules
        self.folder = root / rules_folder(rules)
        self.threads = threads
        self.memory = memory
        self.depths = depths
        self.report = report
        self.tables = Tables(rules)
        self.mended: list[str] = []
        """What was wrong with files that were there and have been built again."""
        self._started: float | None = None
        self._done = 0.0
        self._total = 0

    def build(self, men: int) -> Tables:
        """Build or complete the tables of all pairs of up to ``men`` men, and open them."""
        todo = pairs(men)
        self._check_memory(todo)
        self._make_folder()
        self._total = sum(places_of(*pair) for pair in todo)
        with locked(self.folder):
            self._clear_away()
            for larger, smaller in todo:
                known = len(self.tables.problems)
                if not self._reuse(larger, smaller):
                    self.mended += self.tables.problems[known:]
                    del self.tables.problems[known:]
                    self._begin_clock()
                    self._check_space(larger, smaller)
                    self._solve(larger, smaller)
                    self._done += places_of(larger, smaller)
                    self.tell(larger, smaller, 0, 0.0)
        return self.tables

    def tell(self, larger: int, smaller: int, level: int, share: float) -> None:
        """Report progress: the finished pairs and the share of this one that is done."""
        if self.report is None or self._started is None:
            return
        done = self._done + min(share, 1.0) * places_of(larger, smaller)
        seconds = time.monotonic() - self._started
        self.report(Progress(larger, smaller, level, done, self._total, seconds))

    def _begin_clock(self) -> None:
        """Count time from the first pair that is not merely found."""
        if self._started is None:
            self._started = time.monotonic()

    def _check_memory(self, todo: list[tuple[int, int]]) -> None:
        """Refuse what the bound on memory does not allow, before any work."""
        if self.memory is None:
            return
        for larger, smaller in todo:
            needed = memory_of(larger, smaller, self.depths)
            if needed > self.memory:
                raise InputError(
                    f"{self.memory / 2**30:.2f} GiB",
                    f"{larger}-{smaller} needs {needed / 2**30:.2f} GiB of memory"
                    + (" (less without depths)" if self.depths else ""),
                )

    def _clear_away(self) -> None:
        """Remove what a killed build left half-written."""
        for partial in self.folder.glob("*.part"):
            try:
                partial.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    str(partial), f"cannot be removed ({error.strerror}); a build would write it"
                ) from error

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(self.folder), f"cannot be made ({error.strerror})") from error

    def _check_space(self, larger: int, smaller: int) -> None:
        """Refuse a pair that the disk has no room for, before it is solved."""
        places = places_of(larger, smaller)
        needed = places // 4 + (places if self.depths else 0)
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise InputError(
                str(self.folder),
                f"{larger}-{smaller} needs {needed / 1e6:.1f} MB and {free / 1e6:.1f} MB are free. "
                "All finished tables are kept: free the space and repeat the command",
            )

    def _reuse(self, larger: int, smaller: int) -> bool:
        """Open a pair that is there and sound; False where it must be built."""
        if not (self.folder / file_name(larger, smaller, VALUES)).exists():
            return False
        known = len(self.tables.problems)
        try:
            self.tables.load(self.folder, larger, smaller, check=True)
        except TableError as error:
            self.tables.problems.append(str(error))
            return False
        with_depths = (self.folder / file_name(larger, smaller, DEPTHS)).exists()
        if self.depths and (not with_depths or len(self.tables.problems) > known):
            return False
        self._total -= places_of(larger, smaller)
        return True

    def _solve(self, larger: int, smaller: int) -> None:
        """Solve a pair, write its files and open them; `InputError` where the machine cannot."""
        try:
            self._solve_and_write(larger, smaller)
            self.tables.load(self.folder, larger, smaller)
        except TableError as error:
            raise InputError(str(self.folder), str(error)) from error
        except (MemoryError, RuntimeError) as error:
            # Without memory the system starts no thread either.
            raise InputError(f"{larger}-{smaller}", f"cannot be solved: {error}") from error

    def _solve_and_write(self, larger: int, smaller: int) -> None:
        pair = core.Retrograde(
            core_rules(self.rules), larger, smaller, self.depths, self.tables.core
        )
        with ThreadPoolExecutor(self.threads) as pool:
            run = _Stages(self, pair, pool, larger, smaller)
            for stage in (REMOVALS, FIRST_A, FIRST_B):
                run.stage(stage)
            longest = run.levels(plies_limit(self.rules, larger, smaller))
            run.stage(PACK)
        tables = 1 if larger == smaller else 2
        tallies = tuple(
            Tally(*counts, *depths)
            for counts, depths in list(zip(pair.tallies, longest, strict=True))[:tables]
        )
        header = Header(VALUES, larger, smaller, rule_fields(self.rules), pair.places, tallies)
        values = [pair.values(table) for table in range(tables)]
        depths = [pair.depths(table) for table in range(tables)] if self.depths else []
        self._write(header, values, depths)

    def _write(self, header: Header, values: list[memoryview], depths: list[memoryview]) -> None:
        """Write the depths first, for a build takes a pair for finished that has its values."""
        sum_of_values = checksum(values)
        header = replace(header, checksum=sum_of_values, values_checksum=sum_of_values)
        if depths:
            of_depths = replace(header, kind=DEPTHS, checksum=checksum(depths))
            path = self.folder / file_name(header.larger, header.smaller, DEPTHS)
            write_whole(path, [of_depths.pack(), *depths])
        path = self.folder / file_name(header.larger, header.smaller, VALUES)
        write_whole(path, [header.pack(), *values])


class _Stages:
    """The stages of one pair, each worked on by all threads."""

    def __init__(
        self,
        builder: Builder,
        pair: core.Retrograde,
        pool: ThreadPoolExecutor,
        larger: int,
        smaller: int,
    ) -> None:
        self.builder = builder
        self.pair = pair
        self.pool = pool
        self.larger, self.smaller = larger, smaller
        self.share = 0.0

    def stage(self, stage: int, level: int = 0) -> None:
        """Begin a stage and work on it until it is done."""
        self.pair.begin(stage, level)
        try:
            work = [self.pool.submit(self.pair.work) for _ in range(self.builder.threads)]
            while wait(work, _REPORT_EVERY).not_done:
                self._report(stage, level)
        except BaseException:
            self.pair.stop()
            raise
        for future in work:
            future.result()
        if stage < LEVEL:
            self.share += _FIRST_PART / 3

    def levels(self, limit: int) -> list[tuple[int | None, int | None]]:
        """Settle level after level; for each table the greatest depth of a win and of a loss."""
        longest: list[list[int | None]] = [
            [None, 0 if some else None] for some in self.pair.blocked()
        ]
        level = 1
        while not limit or level <= limit:
            self.stage(LEVEL, level)
            settled = self.pair.settled
            for table, kinds in enumerate(settled):
                for kind, number in enumerate(kinds):
                    if number:
                        longest[table][kind] = level
            number = sum(map(sum, settled))
            if not number:
                break
            self.share += (1 - _FIRST_PART) * number / (2 * self.pair.places)
            level += 1
        return [(win, loss) for win, loss in longest]

    def _report(self, stage: int, level: int) -> None:
        share = self.share
        if stage < LEVEL:
            share += self.pair.done * _FIRST_PART / 3
        self.builder.tell(self.larger, self.smaller, level, share)
