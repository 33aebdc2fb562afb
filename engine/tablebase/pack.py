"""Packing tables: compressing the blocks of each table, so that a probe unpacks only one block.

An interrupted run keeps all finished files and resumes with the unfinished sector.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
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
    checksum,
    copy_slice,
    file_name,
    open_table,
    rules_folder,
)
from merels.engine.tablebase.packed import PLACES_IN_A_BYTE, block_index, open_packed
from merels.engine.tablebase.probe import build_command
from merels.engine.tablebase.sectors import Sector, stored_sectors
from merels.engine.tablebase.storage import prepared, write_table

_ZLIB_LEVEL = 9
_BLOCKS_PER_PART = 16
"""Number of blocks that a thread compresses in one call."""


@dataclass
class Packer:
    """Packs the tables of one rule set below the folder ``root`` into the folder ``target``.

    Both may be the same folder. ``report`` is called many times a second, on the thread that calls
    `pack`.
    """

    root: Path
    target: Path
    rules: Rules
    _: KW_ONLY
    threads: int = 1
    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        self.source_folder = self.root / rules_folder(self.rules)
        self.folder = self.target / rules_folder(self.rules)
        self.problems: list[str] = []
        """A line for each file that cannot be packed or copied."""
        self.rebuilt: list[str] = []
        """A line for each damaged file that was packed again, with the fault."""
        self._done = self._total = 0
        self._started = 0.0

    def pack(self, wanted: Sequence[Sector] = ()) -> list[Path]:
        """Pack all tables that are not packed yet; return all packed files, old ones included.

        ``wanted`` are the sectors to pack, all if it is empty. `InputError` if there are no tables,
        or a folder or file cannot be written to.
        """
        existing = [
            sector for sector in wanted or stored_sectors(self.rules)
            if (self.source_folder / file_name(sector, VALUES)).exists()
        ]
        if not existing:
            raise InputError(
                str(self.source_folder),
                f"no tables to pack; make them with {build_command(self.rules, self.root)}",
            )
        self._total = sum(sector.places for sector in existing)
        self._started = time.monotonic()
        packed = []
        with prepared(self.folder), ThreadPoolExecutor(self.threads) as pool:
            try:
                for sector in existing:
                    try:
                        packed.append(self._pack_sector(sector, pool))
                        self._copy_depths(sector)
                    except TableError as error:
                        self.problems.append(str(error))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return packed

    def _pack_sector(self, sector: Sector, pool: ThreadPoolExecutor) -> Path:
        """Pack a sector unless its packed file is valid; return the file."""
        self._report(sector, 0)
        header, tables = open_table(
            self.source_folder / file_name(sector, VALUES), self.rules, check=True
        )
        path = self.folder / file_name(sector, PACKED)
        if self._is_packed(path, header):
            self._total -= sector.places
            return path
        blocks: list[bytes] = []
        for table in tables:
            for compressed in pool.map(_compress, _parts(table)):
                blocks += compressed
                self._report(sector, len(blocks) * BLOCK_BYTES * PLACES_IN_A_BYTE)
        self._done += sector.places
        ends = block_index([len(block) for block in blocks])
        data = b"".join(blocks)
        sum_of_data = checksum([memoryview(ends), memoryview(data)])
        packed_header = replace(header, kind=PACKED, checksum=sum_of_data)
        write_table(path, [packed_header.pack(), ends, data])
        return path

    def _copy_depths(self, sector: Sector) -> None:
        """Copy a sector's file of depths, which is not packed, to the target folder."""
        name = file_name(sector, DEPTHS)
        if self.folder == self.source_folder or not (self.source_folder / name).exists():
            return
        header, depths = open_table(self.source_folder / name, self.rules, check=True)
        try:
            if open_table(self.folder / name, self.rules, check=True)[0] == header:
                return
        except TableError:
            pass  # The copy is missing or unusable.
        write_table(self.folder / name, [header.pack(), *depths])

    def _is_packed(self, path: Path, header: Header) -> bool:
        """Return whether a packed file exists, is valid, and holds the values of ``header``."""
        if not path.exists():
            return False
        try:
            existing, _ = open_packed(path, self.rules, True, [])
        except TableError as error:
            self.rebuilt.append(str(error))
            return False
        return existing.values_checksum == header.checksum

    def _report(self, sector: Sector, places: int) -> None:
        """Report progress; ``places`` of the sector are done."""
        if self.report is not None:
            done = self._done + min(places, sector.places)
            seconds = time.monotonic() - self._started
            self.report(Progress(str(sector), done, self._total, seconds))


def _parts(table: memoryview) -> Iterator[tuple[memoryview, int, int]]:
    """Yield each part of a table as the table, and the part's start and end offset in bytes."""
    size = _BLOCKS_PER_PART * BLOCK_BYTES
    for start in range(0, len(table), size):
        yield table, start, start + size


def _compress(part: tuple[memoryview, int, int]) -> list[bytes]:
    """Return the compressed blocks of a part."""
    data = copy_slice(*part)
    return [
        zlib.compress(data[start : start + BLOCK_BYTES], _ZLIB_LEVEL)
        for start in range(0, len(data), BLOCK_BYTES)
    ]
