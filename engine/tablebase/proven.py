"""Proofs about the placing phase, kept beside the tables for later ones.

The format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.tablebase.files import (
    RuleFields,
    TableError,
    check_start,
    checksum,
    rule_fields,
    rules_folder,
)
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.solve import Prover
from merels.engine.tablebase.storage import locked, write_whole

NAME = "placing.pvn"
MAGIC = b"MERELSPP"
VERSION = 1
HEADER_SIZE = 64
MOST_MB = 1 << 16

_HEADER = struct.Struct("<8sH4B2xIIIIQ20x")
_MIB = 1 << 20
_REMEDY = "solve with -store again"


@dataclass(frozen=True, slots=True)
class _Header:
    """The header of the file; ``tables_checksum`` is the CRC-32 of the tables' checksums."""

    rules: RuleFields
    tables_checksum: int
    data_checksum: int
    data_size: int

    def pack(self) -> bytes:
        """The header's bytes."""
        flying, locked, double, blocked, no_removal, three_three = self.rules
        data = _HEADER.pack(
            MAGIC, VERSION, flying, locked, double, blocked, no_removal, three_three,
            self.tables_checksum, self.data_checksum, self.data_size,
        )  # fmt: skip
        return data + struct.pack("<I", zlib.crc32(data))


def keep(prover: Prover, root: Path) -> Path:
    """Write all that a prover has found below ``root``; `InputError` where the disk is full."""
    tables, data = prover.tables, prover.core.found()
    path = root / rules_folder(tables.rules) / NAME
    header = _Header(rule_fields(tables.rules), _mark(tables), checksum([data]), len(data))
    with locked(path.parent, wait=True):
        write_whole(path, [header.pack(), data])
    return path


def kept(tables: Tables, root: Path) -> Prover | None:
    """A prover that knows what was kept for these tables; None where nothing was.

    Raises `TableError` for a file that is damaged, or of other rules or tables.
    """
    path = root / rules_folder(tables.rules) / NAME
    try:
        with open(path, "rb") as file:
            header = _parse(file.read(HEADER_SIZE), path)
            if header.rules != rule_fields(tables.rules):
                raise TableError(f"{path}: made for other rules than {tables.rules}")
            if header.tables_checksum != _mark(tables):
                raise TableError(f"{path}: made from other tables; {_REMEDY}")
            size = path.stat().st_size
            if size != HEADER_SIZE + header.data_size:
                raise TableError(
                    f"{path}: {size} bytes instead of {HEADER_SIZE + header.data_size}: "
                    f"cut off or damaged; {_REMEDY}"
                )
            prover = Prover(tables, header.data_size // _MIB)
            room = prover.core.found()
            file.readinto(room)
    except FileNotFoundError:
        return None
    except InputError as error:
        raise TableError(f"{path}: {error}") from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    if checksum([room]) != header.data_checksum:
        raise TableError(f"{path}: damaged data (checksum differs); {_REMEDY}")
    return prover


def _parse(data: bytes, path: Path) -> _Header:
    """The header at the start of a file, or a `TableError` that says what is wrong with it."""
    check_start(data, path, MAGIC, HEADER_SIZE, VERSION, "no proofs of merels", _REMEDY)
    fields = _HEADER.unpack(data[: HEADER_SIZE - 4])
    size = fields[-1]
    if size % _MIB or not 0 < size <= MOST_MB * _MIB:
        raise TableError(f"{path}: {size} bytes of proofs, expected whole MiB; {_REMEDY}")
    _, _, flying, locked, double, blocked, no_removal, three_three, *rest = fields
    rules = flying, bool(locked), bool(double), bool(blocked), no_removal, three_three
    return _Header(rules, *rest)


def _mark(tables: Tables) -> int:
    """The CRC-32 of all tables' checksums: proofs hold for these tables alone."""
    sums = [tables.headers[sector].checksum for sector in sorted(tables.headers)]
    return zlib.crc32(struct.pack(f"<{len(sums)}I", *sums))
