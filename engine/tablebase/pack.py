"""Packing tables: every block compressed by itself, so that each can be read alone.

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
    NOT_LOST,
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
from merels.engine.tablebase.sectors import AnySector, Sector, kept_placing_sectors, sectors
from merels.engine.tablebase.storage import locked, remove_drafts, write_table

_LEVEL = 9
_BLOCKS_AT_ONCE = 16
_REPORT_EVERY = 0.25
"""Seconds."""

# A byte of four values, of which a loss is 2: four bits that tell the losses, as the lower half of
# a byte or as the upper one.
_LOW_LOSSES = bytes(
    sum(1 << place for place in range(4) if byte >> 2 * place & 3 == 2) for byte in range(256)
)
_HIGH_LOSSES = bytes(losses << 4 for losses in _LOW_LOSSES)


@dataclass
class Packer:
    """Packs the tables of one rule set from below a folder to below another, or the same.

    ``not_lost`` keeps of a moving-phase sector only which positions are lost, unless a limit on
    plies holds there: a look one ply ahead tells the wins then. ``report`` is called a few times a
    second by the thread that packs.
    """

    root: Path
    target: Path
    rules: Rules
    _: KW_ONLY
    not_lost: bool = False
    threads: int = 1
    report: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        check_rules(self.rules)
        self.source_folder = self.root / rules_folder(self.rules)
        self.folder = self.target / rules_folder(self.rules)
        self.problems: list[str] = []
        """A line for each file that cannot be packed."""
        self.mended: list[str] = []
        """What was wrong with the files that were packed again."""
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
        kind = self._kind_of(sector)
        path = self.folder / file_name(sector, kind)
        if self._is_packed(path, header):
            self._total -= sector.places
            return path
        blocks: list[bytes] = []
        for table in tables:
            for some in pool.map(_compress, _parts(table, kind)):
                blocks += some
                self._tell(sector, len(blocks) * BLOCK_BYTES * PLACES_IN_A_BYTE[kind])
        self._done += sector.places
        ends = index_of([len(block) for block in blocks])
        data = b"".join(blocks)
        packed = replace(header, kind=kind, checksum=checksum([memoryview(ends), memoryview(data)]))
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

    def _kind_of(self, sector: AnySector) -> int:
        """What a sector is packed as.

        Where a limit on plies holds, a win may come too late: one ply ahead tells too little. And
        with men in hand, tables of every other ply are too few to tell a win from a draw by losses.
        """
        exact = isinstance(sector, Sector) and not sector.plies_limit(self.rules)
        return NOT_LOST if self.not_lost and exact else PACKED

    def _is_packed(self, path: Path, header: Header) -> bool:
        """Whether a file is there, sound, and of these values."""
        if not path.exists():
            return False
        try:
            found, _ = open_packed(path, self.rules, True, [])
        except TableError as error:
            self.mended.append(str(error))
            return False
        return found.values_checksum == header.checksum

    def _tell(self, sector: AnySector, places: int) -> None:
        """Report progress now and then."""
        now = time.monotonic()
        if self.report is not None and now >= self._reported + _REPORT_EVERY:
            self._reported = now
            done = self._done + min(places, sector.places)
            self.report(Progress(str(sector), done, self._total, now - self._started))


def _parts(table: memoryview, kind: int) -> Iterator[tuple[memoryview, int, int, int]]:
    """A table of values with where each part of some blocks begins and ends, and the kind of the
    packed file."""
    step = _BLOCKS_AT_ONCE * BLOCK_BYTES * PLACES_IN_A_BYTE[kind] // 4
    for at in range(0, len(table), step):
        yield table, at, at + step, kind


def _compress(part: tuple[memoryview, int, int, int]) -> list[bytes]:
    """The blocks of a part, compressed."""
    table, start, end, kind = part
    data = copy_of(table, start, end)
    if kind == NOT_LOST:
        data = losses_of(data)
    return [
        zlib.compress(data[at : at + BLOCK_BYTES], _LEVEL)
        for at in range(0, len(data), BLOCK_BYTES)
    ]


def losses_of(values: bytes) -> bytes:
    """A bit for each place, 1 where its value is a loss."""
    low = values[::2].translate(_LOW_LOSSES)
    high = values[1::2].translate(_HIGH_LOSSES).ljust(len(low), b"\0")
    both = int.from_bytes(low, "little") | int.from_bytes(high, "little")
    return both.to_bytes(len(low), "little")
