"""Table files: reading and writing headers, opening and checking files.

FORMAT.md describes the format to the byte.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from merels.engine.common.regular_file import open_regular_file
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import Rules
from merels.engine.tablebase.sectors import Sector

MAGIC = b"MERELSTB"
VERSION = 1
VALUES, DEPTHS, PACKED = 1, 3, 4
"""Kinds of table files; PACKED has compressed values."""

SUFFIX = {VALUES: ".wdl", DEPTHS: ".dtl", PACKED: ".wdp"}
HEADER_SIZE = 128
NO_DEPTH = 0xFFFF
"""Stored instead of a greatest depth if it is unknown, or if the table has no such state."""

_HEADER = struct.Struct("<8sH8BHIIII4xQ6Q4H2Q4x")
CHUNK = 1 << 24
"""Bytes of a file whose checksum is computed in one call."""

_ALWAYS_CHECKED_BYTES = 1 << 20
"""Size of data up to which the checksum is compared whenever the file is opened.

The small tables have less. Reading 175 MB of larger tables took 0.12 s at each start.
"""


class TableError(Exception):
    """A table file is missing, damaged, or made for other rules."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of canonical states of one table by value, and the greatest depths.

    ``longest_win`` and ``longest_loss`` are in plies; None: no such state, or depths unknown.
    """

    drawn: int
    won: int
    lost: int
    longest_win: int | None
    longest_loss: int | None

    @property
    def states(self) -> int:
        """Number of canonical states in the table."""
        return self.drawn + self.won + self.lost


@dataclass(frozen=True, slots=True)
class Header:
    """The first 128 bytes of a table file.

    ``places`` is the number of places in each table; ``tallies`` has one item for each table of
    the sector. ``checksum`` is the CRC-32 of the file's data, ``values_checksum`` the CRC-32 of the
    sector's values. In a file of depths, ``list_sizes`` has the size of each table's list in bytes.
    """

    kind: int
    sector: Sector
    rules: tuple[int, ...]
    places: int
    tallies: tuple[Tally, ...]
    checksum: int = 0
    values_checksum: int = 0
    list_sizes: tuple[int, ...] = ()

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Size in bytes of each table's depths, or of its unpacked values."""
        if self.kind == DEPTHS:
            return self.list_sizes
        return ((self.places + 3) // 4,) * len(self.tallies)

    def pack(self) -> bytes:
        """Return the header's bytes."""
        tallies = [*self.tallies, *[Tally(0, 0, 0, None, None)] * (2 - len(self.tallies))]
        counts = [count for tally in tallies for count in (tally.drawn, tally.won, tally.lost)]
        depths = [
            NO_DEPTH if depth is None else min(depth, NO_DEPTH - 1)
            for tally in tallies
            for depth in (tally.longest_win, tally.longest_loss)
        ]
        data = _HEADER.pack(
            MAGIC, VERSION, self.kind, *self.sector[:2], len(self.tallies), *self.rules[:4],
            self.sector.hand, *self.rules[4:], self.checksum, self.values_checksum, self.places,
            *counts, *depths, *(*self.list_sizes, 0, 0)[:2],
        )  # fmt: skip
        return data + struct.pack("<I", zlib.crc32(data))


def rule_fields(rules: Rules) -> tuple[int, ...]:
    """Return the fields of a rule set that affect table values: all but the repetition."""
    flying, locked, double, blocked, _, no_removal, three_three = core_rules(rules)
    return flying, locked, double, blocked, no_removal, three_three


def rules_folder(rules: Rules) -> str:
    """Return the name of the folder that holds the tables of a rule set."""
    return (
        f"{rules.flying}-{rules.locked_mills}-{rules.double_mill}-{rules.blocked}"
        f"-{rules.no_removal_plies}-{rules.three_three_plies}"
    )


def file_name(sector: Sector, kind: int) -> str:
    """Return the name of a sector's file, for example ``8-7.wdl`` or ``8-7+2.wdl``."""
    return f"{sector}{SUFFIX[kind]}"


def parse_header(data: bytes, path: Path) -> Header:
    """Return the header of a file from its first bytes; `TableError` states why it is invalid."""
    if len(data) < HEADER_SIZE or data[:8] != MAGIC:
        raise TableError(f"{path}: not a table, or cut off within its header; {remedy(path)}")
    content, stored_crc = data[: HEADER_SIZE - 4], data[HEADER_SIZE - 4 : HEADER_SIZE]
    _, version, kind, own, opponent, tables, *fields = _HEADER.unpack(content)
    if version != VERSION:
        raise TableError(
            f"{path}: format version {version}, but this program reads version {VERSION}; "
            f"{remedy(path)}"
        )
    if zlib.crc32(content) != int.from_bytes(stored_crc, "little"):
        raise TableError(f"{path}: damaged header; {remedy(path)}")
    hand, each_mill = fields.pop(4), bool(fields[2])
    sector = Sector(own, opponent, hand)
    if kind not in SUFFIX or not sector.occurs(each_mill) or hand and kind == DEPTHS:
        in_hand = f", {hand} in hand" if hand else ""
        raise TableError(
            f"{path}: damaged header: no table has kind {kind}, {own} and {opponent} men{in_hand}; "
            f"{remedy(path)}"
        )
    if tables != len(sector.tables):
        raise TableError(
            f"{path}: damaged header: expected the number of tables {len(sector.tables)}, found "
            f"{tables}; {remedy(path)}"
        )
    sum_of_data, sum_of_values, places, *counts = fields[6:15]
    depths = [None if depth == NO_DEPTH else depth for depth in fields[15:19]]
    tallies = [Tally(*counts[3 * i : 3 * i + 3], *depths[2 * i : 2 * i + 2]) for i in range(tables)]
    return Header(
        kind, sector, tuple(fields[:6]), places, tuple(tallies), sum_of_data, sum_of_values,
        tuple(fields[19 : 19 + tables]) if kind == DEPTHS else (),
    )  # fmt: skip


def checksum(parts: Sequence[memoryview], start: int = 0) -> int:
    """Return the CRC-32 of all ``parts``, continuing from ``start``.

    The data is read in chunks, so that Ctrl-C takes effect between them.
    """
    crc = start
    for part in parts:
        for offset in range(0, len(part), CHUNK):
            crc = zlib.crc32(part[offset : offset + CHUNK], crc)
    return crc


def copy_slice(data: memoryview, start: int, end: int) -> bytes:
    """Return a copy of ``data[start:end]``; safe if several threads read the same data.

    Slicing a memoryview changes its reference count, and free-threaded CPython loses counts if
    threads slice at the same time: it would free the data too early.
    """
    start, end = min(start, len(data)), min(end, len(data))
    copied: bytes = struct.unpack_from(f"{max(0, end - start)}s", data, start)[0]
    return copied


def remedy(path: Path) -> str:
    """Return the advice to repair a damaged file."""
    return f"{'pack' if path.suffix == SUFFIX[PACKED] else 'build'} the table again"


def map_table(path: Path, rules: Rules) -> tuple[Header, memoryview]:
    """Return a file's header and its memory-mapped data; `TableError` if it cannot be used."""
    try:
        with open_regular_file(path, follow=True) as file:
            header = parse_header(file.read(HEADER_SIZE), path)
            if header.rules != rule_fields(rules):
                raise TableError(f"{path}: made for rules other than {rules}; {remedy(path)}")
            expected = file_name(header.sector, header.kind)
            if expected != path.name:
                raise TableError(f"{path}: contains the table {expected}; rename the file to that")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    return header, data[HEADER_SIZE:]


def check_data(
    path: Path, header: Header, data: memoryview, expected_size: int, check: bool
) -> None:
    """Raise `TableError` for a truncated or damaged file.

    ``check``: compare the checksum of a large file, too.
    """
    if len(data) != expected_size:
        raise TableError(
            f"{path}: {HEADER_SIZE + len(data)} bytes instead of {HEADER_SIZE + expected_size}: "
            f"cut off or damaged; {remedy(path)}"
        )
    if header.places != header.sector.table_places:
        raise TableError(
            f"{path}: damaged header: expected {header.sector.table_places} places, found "
            f"{header.places}; {remedy(path)}"
        )
    if (check or len(data) <= _ALWAYS_CHECKED_BYTES) and checksum([data]) != header.checksum:
        raise TableError(f"{path}: damaged data (checksum differs); {remedy(path)}")


def open_table(path: Path, rules: Rules, check: bool) -> tuple[Header, list[memoryview]]:
    """Return a file's header and its memory-mapped tables; `TableError` if it cannot be used.

    ``check``: compare the checksum of a large file, too.
    """
    header, data = map_table(path, rules)
    sizes = header.table_sizes
    check_data(path, header, data, sum(sizes), check)
    return header, [data[end - size : end] for size, end in zip(sizes, accumulate(sizes))]
