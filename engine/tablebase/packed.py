"""Packed tables: compressed in blocks, each unpacked at its first probe.

The format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from merels.engine.core.core import BLOCK_BYTES
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import (
    Header,
    TableError,
    check_data,
    copy_of,
    map_table,
    remedy,
)

PLACES_IN_A_BYTE = 4
"""Of values, when unpacked."""

_END = struct.Struct("<I")


@dataclass(slots=True)
class PackedTable:
    """One table of a packed file, open for reading.

    ``ends`` has where each of the file's blocks ends in ``data``, 4 bytes each; this table's are
    those from ``first`` on. ``size`` is in bytes, unpacked. A damaged block adds a line to
    ``problems``, once for each table.
    """

    path: Path
    ends: memoryview
    data: memoryview
    first: int
    size: int
    problems: list[str]
    damaged: bool = False

    def block(self, number: int) -> bytes:
        """A block, unpacked; `TableError` where it is damaged."""
        index = self.first + number
        start = _end(self.ends, index - 1) if index else 0
        expected = min(BLOCK_BYTES, self.size - number * BLOCK_BYTES)
        stream = zlib.decompressobj()
        try:
            # One byte more shows where the block ends; a damaged block may not end.
            packed = copy_of(self.data, start, _end(self.ends, index))
            found = stream.decompress(packed, BLOCK_BYTES + 1)
            if len(found) != expected or not stream.eof:
                raise zlib.error
        except zlib.error:
            problem = f"{self.path}: damaged data (block {index}); {remedy(self.path)}"
            if not self.damaged:
                self.damaged = True
                self.problems.append(problem)
            raise TableError(problem) from None
        return found

    def blocks(self) -> Iterator[bytes]:
        """All blocks of the table; `TableError` at the first that is damaged."""
        return map(self.block, range(blocks_of(self.size)))


def blocks_of(size: int) -> int:
    """Return the number of blocks of ``size`` bytes."""
    return -(-size // BLOCK_BYTES)


def index_of(sizes: list[int]) -> bytes:
    """Return the file's list of the offsets at which blocks of these packed sizes end."""
    ends, end = bytearray(), 0
    for size in sizes:
        end += size
        ends += _END.pack(end)
    return bytes(ends)


def open_packed(
    path: Path, rules: Rules, check: bool, problems: list[str]
) -> tuple[Header, list[PackedTable]]:
    """A file's header and its tables; raises `TableError`.

    ``check`` compares all data with its checksum, as is always done with a small file.
    ``problems`` gets a line where a block turns out to be damaged later.
    """
    header, data = map_table(path, rules)
    size = -(-header.places // PLACES_IN_A_BYTE)
    blocks, tables = blocks_of(size), len(header.tallies)
    index = _END.size * blocks * tables
    ends, rest = data[:index], data[index:]
    total = _end(ends, blocks * tables - 1) if blocks and len(ends) == index else 0
    check_data(path, header, data, index + total, check)
    return header, [
        PackedTable(path, ends, rest, table * blocks, size, problems)
        for table in range(tables)
    ]


def _end(ends: memoryview, index: int) -> int:
    """Where a block ends."""
    end: int = _END.unpack_from(ends, _END.size * index)[0]
    return end
