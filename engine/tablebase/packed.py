"""Packed tables: compressed in blocks, each unpacked when a probe needs it.

FORMAT.md describes the format to the byte.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from merels.engine.core.core import BLOCK_BYTES
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import (
    Header,
    TableError,
    check_data,
    copy_slice,
    map_table,
    remedy,
)

PLACES_IN_A_BYTE = 4
"""Number of values in a byte of an unpacked table."""

_END = struct.Struct("<I")


@dataclass(slots=True)
class PackedTable:
    """One table of a packed file, open for reading.

    ``ends`` has the offset in ``data`` at which each of the file's blocks ends, 4 bytes each.
    ``first`` is the index of this table's first block, ``size`` the table's unpacked size in bytes.
    The first read of a damaged block of this table adds a line to ``problems``.
    """

    path: Path
    ends: memoryview
    data: memoryview
    first: int
    size: int
    problems: list[str]
    damaged: bool = False

    def block(self, number: int) -> bytes:
        """Return an unpacked block by its index in this table; `TableError` if it is damaged."""
        index = self.first + number
        start = _end(self.ends, index - 1) if index else 0
        expected = min(BLOCK_BYTES, self.size - number * BLOCK_BYTES)
        stream = zlib.decompressobj()
        try:
            # The limit keeps a damaged block from filling the memory. It is one byte more than a
            # block, so that zlib reads on to the end of the stream.
            packed = copy_slice(self.data, start, _end(self.ends, index))
            block = stream.decompress(packed, BLOCK_BYTES + 1)
            if len(block) != expected or not stream.eof:
                raise zlib.error
        except zlib.error:
            problem = f"{self.path}: damaged data (block {index}); {remedy(self.path)}"
            if not self.damaged:
                self.damaged = True
                self.problems.append(problem)
            raise TableError(problem) from None
        return block

    def blocks(self) -> Iterator[bytes]:
        """Yield all unpacked blocks of the table; `TableError` at the first damaged one."""
        return map(self.block, range(blocks_of(self.size)))


def blocks_of(size: int) -> int:
    """Return the number of blocks in an unpacked table of ``size`` bytes."""
    return -(-size // BLOCK_BYTES)


def block_index(sizes: list[int]) -> bytes:
    """Return a file's list of block ends, from the packed sizes of its blocks in bytes."""
    return b"".join(map(_END.pack, accumulate(sizes)))


def open_packed(
    path: Path, rules: Rules, check: bool, problems: list[str]
) -> tuple[Header, list[PackedTable]]:
    """Return a packed file's header and its tables; `TableError` if it cannot be used.

    ``check``: compare the checksum of a large file, too. ``problems`` gets one line for each table
    in which a damaged block is read later.
    """
    header, data = map_table(path, rules)
    size = -(-header.places // PLACES_IN_A_BYTE)
    blocks, tables = blocks_of(size), len(header.tallies)
    index_size = _END.size * blocks * tables
    ends, streams = data[:index_size], data[index_size:]
    total = _end(ends, blocks * tables - 1) if blocks and len(ends) == index_size else 0
    check_data(path, header, data, index_size + total, check)
    return header, [
        PackedTable(path, ends, streams, table * blocks, size, problems)
        for table in range(tables)
    ]


def _end(ends: memoryview, index: int) -> int:
    """Return the offset at which a block ends."""
    end: int = _END.unpack_from(ends, _END.size * index)[0]
    return end
