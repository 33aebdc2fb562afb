"""Table files: their header, and how they are opened.

The format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import Rules
from merels.engine.tablebase.sectors import AnySector, PlacingSector, Sector, sectors

MAGIC = b"MERELSTB"
VERSION = 1
VALUES, DEPTHS, PACKED = 1, 3, 4
"""The kinds of files; the last has packed values."""

SUFFIX = {VALUES: ".wdl", DEPTHS: ".dtl", PACKED: ".wdp"}
HEADER_SIZE = 128
NONE = 0xFFFF
"""The longest depth where there is no such state."""

_HEADER = struct.Struct("<8sH8BHIIII4xQ6Q4H2Q4x")
CHUNK = 1 << 24
"""Bytes that are read or written at a time."""

_ALWAYS_CHECKED = 1 << 24
"""Bytes of data up to which the checksum is compared whenever a file is opened."""


class TableError(Exception):
    """A table file is missing, damaged, or made for other rules."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The canonical states of one table by value, and their greatest depths.

    ``longest_win`` and ``longest_loss`` are in plies; None: no such state, or no depths.
    """

    drawn: int
    won: int
    lost: int
    longest_win: int | None
    longest_loss: int | None

    @property
    def states(self) -> int:
        """The canonical states of the table."""
        return self.drawn + self.won + self.lost


@dataclass(frozen=True, slots=True)
class Header:
    """The first 128 bytes of a table file.

    There is a tally for each table of the sector. ``checksum`` is the CRC-32 of the data,
    ``values_checksum`` that of the sector's values. ``list_sizes`` are the bytes of each table's
    list of depths, in a file of them.
    """

    kind: int
    sector: AnySector
    rules: tuple[int, ...]
    places: int
    tallies: tuple[Tally, ...]
    checksum: int = 0
    values_checksum: int = 0
    list_sizes: tuple[int, ...] = ()

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Bytes of each table, values or depths."""
        if self.kind == DEPTHS:
            return self.list_sizes
        return ((self.places + 3) // 4,) * len(self.tallies)

    def pack(self) -> bytes:
        """The header's bytes."""
        tallies = [*self.tallies, *[Tally(0, 0, 0, None, None)] * (2 - len(self.tallies))]
        counts = [count for tally in tallies for count in (tally.drawn, tally.won, tally.lost)]
        depths = [
            NONE if depth is None else min(depth, NONE - 1)
            for tally in tallies
            for depth in (tally.longest_win, tally.longest_loss)
        ]
        data = _HEADER.pack(
            MAGIC, VERSION, self.kind, *self.sector[:2], len(self.tallies), *self.rules[:4],
            self.sector.hand, *self.rules[4:], self.checksum, self.values_checksum, self.places,
            *counts, *depths, *(*self.list_sizes, 0, 0)[:2],
        )  # fmt: skip
        return data + struct.pack("<I", zlib.crc32(data))


def check_rules(rules: Rules) -> None:
    """Raise an `InputError` for rules that no tables can have."""
    if rules.repetition == 1:
        raise InputError(
            "Repetition=1", "expected 0 or at least 2: with 1 every move is a draw at once"
        )


def rule_fields(rules: Rules) -> tuple[int, ...]:
    """The fields of a rule set that change a table: all but the repetition."""
    flying, locked, double, blocked, _, no_removal, three_three = core_rules(rules)
    return flying, locked, double, blocked, no_removal, three_three


def rules_folder(rules: Rules) -> str:
    """The name of the folder that holds the tables of a rule set."""
    return (
        f"{rules.flying}-{rules.locked_mills}-{rules.double_mill}-{rules.blocked}"
        f"-{rules.no_removal_plies}-{rules.three_three_plies}"
    )


def file_name(sector: AnySector, kind: int) -> str:
    """The name of a sector's file, for example ``8-7.wdl`` or ``8-7+2.wdl``."""
    return f"{sector}{SUFFIX[kind]}"


def check_start(
    data: bytes, path: Path, magic: bytes, size: int, version: int, what: str, remedy: str
) -> None:
    """Raise a `TableError` unless a file begins with a whole header of ``size`` bytes.

    Its magic and version come first, the CRC-32 of the rest last.
    """
    if len(data) < size or data[:8] != magic:
        raise TableError(f"{path}: {what}, or cut off within its header")
    found = int.from_bytes(data[8:10], "little")
    if found != version:
        raise TableError(f"{path}: format version {found}, this program reads {version}")
    if zlib.crc32(data[: size - 4]) != int.from_bytes(data[size - 4 : size], "little"):
        raise TableError(f"{path}: damaged header; {remedy}")


def parse_header(data: bytes, path: Path) -> Header:
    """Return the header at the start of a file; raise `TableError` with the fault."""
    check_start(data, path, MAGIC, HEADER_SIZE, VERSION, "not a table of merels", remedy(path))
    _, _, kind, own, opponent, tables, *rest = _HEADER.unpack(data[: HEADER_SIZE - 4])
    hand, each_mill = rest.pop(4), bool(rest[2])
    sector: AnySector = PlacingSector(own, opponent, hand) if hand else Sector(own, opponent)
    if kind not in SUFFIX or not (
        kind in (VALUES, PACKED) and sector.occurs(each_mill)
        if isinstance(sector, PlacingSector) else sector in sectors()
    ):
        in_hand = f", {hand} in hand" if hand else ""
        raise TableError(
            f"{path}: no table of merels has kind {kind}, {own} and {opponent} men{in_hand}"
        )
    if tables != len(sector.sides):
        raise TableError(f"{path}: {tables} is not the number of tables of {sector}")
    sum_of_data, sum_of_values, places, *counts = rest[6:15]
    depths = [None if depth == NONE else depth for depth in rest[15:19]]
    tallies = [Tally(*counts[3 * i : 3 * i + 3], *depths[2 * i : 2 * i + 2]) for i in range(tables)]
    return Header(
        kind, sector, tuple(rest[:6]), places, tuple(tallies), sum_of_data, sum_of_values,
        tuple(rest[19 : 19 + tables]) if kind == DEPTHS else (),
    )  # fmt: skip


def checksum(parts: Sequence[memoryview], start: int = 0) -> int:
    """The CRC-32 of some data, in pieces, so that Ctrl-C can come between them."""
    for part in parts:
        for at in range(0, len(part), CHUNK):
            start = zlib.crc32(part[at : at + CHUNK], start)
    return start


def copy_of(data: memoryview, start: int, end: int) -> bytes:
    """What ``data[start:end]`` holds, where threads share the data.

    A slice counts itself as a user of the data: CPython without the interpreter's lock loses count
    where several threads slice at once, and frees the data too early.
    """
    start, end = min(start, len(data)), min(end, len(data))
    found: bytes = struct.unpack_from(f"{max(0, end - start)}s", data, start)[0]
    return found


def remedy(path: Path) -> str:
    """The remedy for a damaged file."""
    return f"{'pack' if path.suffix == SUFFIX[PACKED] else 'build'} the table again"


def map_table(path: Path, rules: Rules) -> tuple[Header, memoryview]:
    """A file's header and its data, mapped into memory; raises `TableError`."""
    try:
        with open(path, "rb") as file:
            header = parse_header(file.read(HEADER_SIZE), path)
            if header.rules != rule_fields(rules):
                raise TableError(f"{path}: made for other rules than {rules}")
            expected = file_name(header.sector, header.kind)
            if expected != path.name:
                raise TableError(f"{path}: holds the table {expected}, not what its name says")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    return header, data[HEADER_SIZE:]


def check_data(
    path: Path, header: Header, data: memoryview, expected_size: int, check: bool
) -> None:
    """Raise a `TableError` for a file that is cut off, or whose data is damaged.

    ``check`` compares all data with its checksum, as is always done with a small file.
    """
    if len(data) != expected_size:
        raise TableError(
            f"{path}: {HEADER_SIZE + len(data)} bytes instead of {HEADER_SIZE + expected_size}: "
            f"cut off or damaged; {remedy(path)}"
        )
    if header.places != header.sector.table_places:
        raise TableError(f"{path}: {header.places} places are not those of {header.sector}")
    if (check or len(data) <= _ALWAYS_CHECKED) and checksum([data]) != header.checksum:
        raise TableError(f"{path}: damaged data (checksum differs); {remedy(path)}")


def open_table(path: Path, rules: Rules, check: bool) -> tuple[Header, list[memoryview]]:
    """A file's header and its tables, mapped into memory; raises `TableError`.

    ``check`` compares all data with its checksum, as is always done with a small file.
    """
    header, data = map_table(path, rules)
    sizes = header.table_sizes
    check_data(path, header, data, sum(sizes), check)
    return header, [data[end - size : end] for size, end in zip(sizes, accumulate(sizes))]
