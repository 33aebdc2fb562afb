"""Packing tables: every block is compressed separately, so that each can be read separately.

What is packed stays: a packing that was interrupted resumes with the sector it was in.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.core.core import BLOCK_BYTES
from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Progress
from merels.engine.tablebase.files import (
    DEPTHS,
    PACKED,
    VALUES,
    Header,
    TableError,
    check_rules,
    checksum,
    copy_of,
    file_name,
    open_table,
    rules_folder,
)
from merels.engine.tablebase.packed import PLACES_IN_A_BYTE, index_of, open_packed
from merels.engine.tablebase.probe import build_command
from merels.engine.tablebase.sectors import AnySector, kept_placing_sectors, sectors
from merels.engine.tablebase.storage import locked, remove_drafts, write_table

_LEVEL = 9
_BLOCKS_AT_ONCE = 16
_REPORT_EVERY = 0.25
"""Seconds."""


@dataclass
class Packer:
    """Packs the tables of one rule set from below a folder to below another, or the same.

    ``report`` is called a few times a second by the thread that packs.
    """

    root: Path
    target: Path
    rules: Rules
    _: KW_ONLY
    threads: int = 1
    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        check_rules(self.rules)
        self.source_folder = self.root / rules_folder(self.rules)
        self.folder = self.target / rules_folder(self.rules)
        self.problems: list[str] = []
        """A line for each file that cannot be packed."""
        self.rebuilt: list[str] = []
        """The faults of the files that were packed again."""
        self._done = self._total = 0
        self._started = self._reported = 0.0

    def pack(self) -> list[Path]:
        """Pack what is there and not packed yet; the file of each sector that is packed now.

        `InputError` where nothing is there, or the disk is full.
        """
        known: list[AnySector] = [*sectors(), *kept_placing_sectors(self.rules)]
        todo = [
            sector for sector in known
            if (self.source_folder / file_name(sector, VALUES)).exists()
        ]
        if not todo:
            raise InputError(
                str(self.source_folder),
                f"no tables to pack there; make them with {build_command(self.rules, self.root)}",
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(self.folder), f"cannot be made ({error.strerror})") from error
        self._total = sum(sector.places for sector in todo)
        self._started = time.monotonic()
        packed = []
        with locked(self.folder), ThreadPoolExecutor(self.threads) as pool:
            remove_drafts(self.folder)
            try:
                for sector in todo:
                    try:
                        packed.append(self._pack_sector(sector, pool))
                        self._copy_depths(sector)
                    except TableError as error:
                        self.problems.append(str(error))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return packed

    def _pack_sector(self, sector: AnySector, pool: ThreadPoolExecutor) -> Path:
        """Pack a sector unless that is done; its file."""
        self._tell(sector, 0)
        header, tables = open_table(
            self.source_folder / file_name(sector, VALUES), self.rules, check=True
        )
        path = self.folder / file_name(sector, PACKED)
        if self._is_packed(path, header):
            self._total -= sector.places
            return path
        blocks: list[bytes] = []
        for table in tables:
            for some in pool.map(_compress, _parts(table)):
                blocks += some
                self._tell(sector, len(blocks) * BLOCK_BYTES * PLACES_IN_A_BYTE)
        self._done += sector.places
        ends = index_of([len(block) for block in blocks])
        data = b"".join(blocks)
        sum_of_data = checksum([memoryview(ends), memoryview(data)])
        packed = replace(header, kind=PACKED, checksum=sum_of_data)
        write_table(path, [packed.pack(), ends, data])
        return path

    def _copy_depths(self, sector: AnySector) -> None:
        """Copy a sector's depths to where its packed values go; they are short as they are."""
        name = file_name(sector, DEPTHS)
        if self.folder == self.source_folder or not (self.source_folder / name).exists():
            return
        header, depths = open_table(self.source_folder / name, self.rules, check=True)
        try:
            if open_table(self.folder / name, self.rules, check=True)[0] == header:
                return
        except TableError:
            pass  # There is none, or none that could be used.
        write_table(self.folder / name, [header.pack(), *depths])

    def _is_packed(self, path: Path, header: Header) -> bool:
        """Whether a file is there, sound, and of these values."""
        if not path.exists():
            return False
        try:
            found, _ = open_packed(path, self.rules, True, [])
        except TableError as error:
            self.rebuilt.append(str(error))
            return False
        return found.values_checksum == header.checksum

    def _tell(self, sector: AnySector, places: int) -> None:
        """Report progress now and then."""
        now = time.monotonic()
        if self.report is not None and now >= self._reported + _REPORT_EVERY:
            self._reported = now
            done = self._done + min(places, sector.places)
            self.report(Progress(str(sector), done, self._total, now - self._started))


def _parts(table: memoryview) -> Iterator[tuple[memoryview, int, int]]:
    """A table of values with where each part of some blocks begins and ends."""
    step = _BLOCKS_AT_ONCE * BLOCK_BYTES
    for at in range(0, len(table), step):
        yield table, at, at + step


def _compress(part: tuple[memoryview, int, int]) -> list[bytes]:
    """The blocks of a part, compressed."""
    data = copy_of(*part)
    return [
        zlib.compress(data[at : at + BLOCK_BYTES], _LEVEL)
        for at in range(0, len(data), BLOCK_BYTES)
    ]
