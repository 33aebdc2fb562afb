"""Proofs about the placing phase, kept beside the tables for later ones.

The format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.tablebase.files import (
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


def keep(prover: Prover, root: Path) -> Path:
    """Write all that a prover has found below ``root``; `InputError` where the disk is full."""
    tables, data = prover.tables, prover.core.found()
    path = root / rules_folder(tables.rules) / NAME
    header = _HEADER.pack(
        MAGIC, VERSION, *rule_fields(tables.rules), _mark(tables), checksum([data]), len(data)
    )
    with locked(path.parent, wait=True):
        write_whole(path, [header, struct.pack("<I", zlib.crc32(header)), data])
    return path


def kept(tables: Tables, root: Path) -> Prover | None:
    """A prover that knows what was kept for these tables; None where nothing was.

    Raises `TableError` for a file that is damaged, or of other rules or tables.
    """
    path = root / rules_folder(tables.rules) / NAME
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER_SIZE)
            check_start(header, path, MAGIC, HEADER_SIZE, VERSION, "no proofs of merels", _REMEDY)
            _, _, *rules, mark, sum_of_data, size = _HEADER.unpack(header[:-4])
            if tuple(rules) != rule_fields(tables.rules):
                raise TableError(f"{path}: made for other rules than {tables.rules}")
            if mark != _mark(tables):
                raise TableError(f"{path}: made from other tables; {_REMEDY}")
            if size % _MIB or not 0 < size <= MOST_MB * _MIB:
                raise TableError(f"{path}: {size} bytes of proofs, expected whole MiB; {_REMEDY}")
            found = path.stat().st_size
            if found != HEADER_SIZE + size:
                raise TableError(
                    f"{path}: {found} bytes instead of {HEADER_SIZE + size}: "
                    f"cut off or damaged; {_REMEDY}"
                )
            prover = Prover(tables, size // _MIB)
            room = prover.core.found()
            file.readinto(room)
    except FileNotFoundError:
        return None
    except InputError as error:
        raise TableError(f"{path}: {error}") from error
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    if checksum([room]) != sum_of_data:
        raise TableError(f"{path}: damaged data (checksum differs); {_REMEDY}")
    return prover


def _mark(tables: Tables) -> int:
    """The CRC-32 of all tables' checksums: proofs hold for these tables alone."""
    sums = [tables.headers[sector].checksum for sector in sorted(tables.headers)]
    return zlib.crc32(struct.pack(f"<{len(sums)}I", *sums))
