"""Table files: their header, how one is written so that no half of it is ever trusted, and opened.

The format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from merels.engine.core import core
from merels.engine.core.convert import core_rules
from merels.engine.game.errors import InputError
from merels.engine.game.rules import MEN_PER_SIDE, Rules

MAGIC = b"MERELSTB"
VERSION = 1
VALUES, DEPTHS = 1, 2
SUFFIX = {VALUES: ".wdl", DEPTHS: ".dtc"}
HEADER_SIZE = 128
NONE = 0xFFFF
"""In place of a longest depth: there is no such state."""

_HEADER = struct.Struct("<8sH8B2xIIII4xQ6Q4H20x")
_CHUNK = 1 << 24

RuleFields = tuple[int, bool, bool, bool, int, int]


class TableError(Exception):
    """A table file that is missing, damaged, or not for these rules; says which and why."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Canonical states of one table by value, and the greatest depths (None: no such state)."""

    drawn: int
    won: int
    lost: int
    longest_win: int | None
    longest_loss: int | None

    @property
    def states(self) -> int:
        """All of them."""
        return self.drawn + self.won + self.lost


@dataclass(frozen=True, slots=True)
class Header:
    """What the first 128 bytes of a table file say.

    ``tallies`` has the larger side to move first, then the smaller, or one where both are as many.
    ``checksum`` is the CRC-32 of the data, ``values_checksum`` that of the pair's values.
    """

    kind: int
    larger: int
    smaller: int
    rules: RuleFields
    places: int
    tallies: tuple[Tally, ...]
    checksum: int = 0
    values_checksum: int = 0

    @property
    def table_size(self) -> int:
        """Bytes of one table."""
        return (self.places + 3) // 4 if self.kind == VALUES else self.places

    @property
    def data_size(self) -> int:
        """Bytes of all tables of the file."""
        return self.table_size * len(self.tallies)

    def pack(self) -> bytes:
        """The header's bytes."""
        flying, locked, double, blocked, no_removal, three_three = self.rules
        tallies = [*self.tallies, *[Tally(0, 0, 0, None, None)] * (2 - len(self.tallies))]
        counts = [count for tally in tallies for count in (tally.drawn, tally.won, tally.lost)]
        depths = [
            NONE if depth is None else min(depth, NONE - 1)
            for tally in tallies
            for depth in (tally.longest_win, tally.longest_loss)
        ]
        data = _HEADER.pack(
            MAGIC, VERSION, self.kind, self.larger, self.smaller, len(self.tallies),
            flying, locked, double, blocked, no_removal, three_three,
            self.checksum, self.values_checksum, self.places, *counts, *depths,
        )  # fmt: skip
        return data + struct.pack("<I", zlib.crc32(data))


def check_rules(rules: Rules) -> None:
    """Raise an `InputError` for rules that tables cannot have the values of."""
    if rules.repetition == 1:
        raise InputError(
            "Repetition=1", "expected 0 or at least 2: with 1 every move is a draw at once"
        )


def rule_fields(rules: Rules) -> RuleFields:
    """The fields of a rule set that change a table: all but the repetition's."""
    flying, locked, double, blocked, _, no_removal, three_three = core_rules(rules)
    return flying, locked, double, blocked, no_removal, three_three


def rules_folder(rules: Rules) -> str:
    """The name of the folder that holds the tables of a rule set."""
    return (
        f"{rules.flying}-{rules.locked_mills}-{rules.double_mill}-{rules.blocked}"
        f"-{rules.no_removal_plies}-{rules.three_three_plies}"
    )


def file_name(larger: int, smaller: int, kind: int) -> str:
    """The name of the file of a pair, for example ``8-7.wdl``."""
    return f"{larger}-{smaller}{SUFFIX[kind]}"


def pairs(men: int) -> list[tuple[int, int]]:
    """All pairs (larger, smaller) of up to ``men`` men, each after those it depends on."""
    return [
        (total - smaller, smaller)
        for total in range(6, men + 1)
        for smaller in range(3, total // 2 + 1)
        if total - smaller <= MEN_PER_SIDE
    ]


def check_start(
    data: bytes, path: Path, magic: bytes, size: int, version: int, what: str, remedy: str
) -> None:
    """Raise a `TableError` unless a file begins with a whole header of ``size`` bytes: its mark and
    version first, the CRC-32 of the rest last."""
    if len(data) < size or data[:8] != magic:
        raise TableError(f"{path}: {what}, or cut off within its header")
    found = int.from_bytes(data[8:10], "little")
    if found != version:
        raise TableError(f"{path}: format version {found}, this program reads {version}")
    if zlib.crc32(data[: size - 4]) != int.from_bytes(data[size - 4 : size], "little"):
        raise TableError(f"{path}: damaged header; {remedy}")


def parse_header(data: bytes, path: Path) -> Header:
    """The header at the start of a file, or a `TableError` that says what is wrong with it."""
    check_start(
        data, path, MAGIC, HEADER_SIZE, VERSION, "not a table of merels", "build the table again"
    )
    (
        _, _, kind, larger, smaller, tables, flying, locked, double, blocked, no_removal,
        three_three, checksum, values_checksum, places, *rest,
    ) = _HEADER.unpack(data[: HEADER_SIZE - 4])  # fmt: skip
    if kind not in SUFFIX or (larger, smaller) not in pairs(2 * MEN_PER_SIDE):
        raise TableError(f"{path}: no table of merels has kind {kind}, {larger} and {smaller} men")
    if tables != (1 if larger == smaller else 2):
        raise TableError(f"{path}: {tables} is not the number of tables of {larger}-{smaller}")
    depths = [None if depth == NONE else depth for depth in rest[6:]]
    return Header(
        kind, larger, smaller,
        (flying, bool(locked), bool(double), bool(blocked), no_removal, three_three), places,
        tuple(Tally(*rest[3 * i : 3 * i + 3], *depths[2 * i : 2 * i + 2]) for i in range(tables)),
        checksum, values_checksum,
    )  # fmt: skip


def checksum(parts: Sequence[memoryview], start: int = 0) -> int:
    """The CRC-32 of some data, in pieces between which an interrupt is heard."""
    for part in parts:
        for at in range(0, len(part), _CHUNK):
            start = zlib.crc32(part[at : at + _CHUNK], start)
    return start


def write_whole(path: Path, parts: Sequence[bytes | bytearray | memoryview]) -> None:
    """Write a file under another name, make it safe on the disk, then give it its own name.

    Raises `InputError` where the disk is full or cannot be written; no part of a file is left.
    """
    partial = path.with_name(path.name + ".part")
    try:
        with open_partial(partial) as file:
            for part in parts:
                for at in range(0, len(part), _CHUNK):
                    file.write(memoryview(part)[at : at + _CHUNK])
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        _sync_folder(path.parent)
    except OSError as error:
        partial.unlink(missing_ok=True)
        size = sum(map(len, parts)) / 1e6
        raise InputError(
            str(path),
            f"cannot be written ({error.strerror}); it needs {size:.1f} MB. "
            "All finished files are kept: free the space and repeat the command",
        ) from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Keep other programs from writing to a folder of tables, where the system has locks.

    `InputError` where one writes there already, unless that is to be waited for.
    """
    try:
        file = open(folder / "lock", "w")
    except OSError as error:
        raise InputError(
            str(folder / "lock"), f"cannot be written ({error.strerror})"
        ) from error
    with file:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(str(folder), "another build is at work there") from None
            except OSError as error:
                raise InputError(
                    str(folder), f"cannot be locked ({error.strerror}): use another file system"
                ) from error
        yield


def open_partial(path: Path) -> BinaryIO:
    """A new file that does not have its own name yet."""
    return open(path, "wb")


def _sync_folder(folder: Path) -> None:
    """Make a change of names in a folder safe, where the system knows how."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_table(
    path: Path, rules: Rules, check: Callable[[Header], bool] | None = None
) -> tuple[Header, list[memoryview]]:
    """A file's header and its tables, mapped into memory; raises `TableError`.

    ``check`` says whether all data is to be read and compared with its checksum (None: it is).
    """
    try:
        with open(path, "rb") as file:
            header = parse_header(file.read(HEADER_SIZE), path)
            size = os.fstat(file.fileno()).st_size
            if size != HEADER_SIZE + header.data_size:
                raise TableError(
                    f"{path}: {size} bytes instead of {HEADER_SIZE + header.data_size}: "
                    "cut off or damaged; build the table again"
                )
            if header.rules != rule_fields(rules):
                raise TableError(f"{path}: made for other rules than {rules}")
            expected = file_name(header.larger, header.smaller, header.kind)
            if expected != path.name or header.places != core.table_places(
                header.larger, header.smaller
            ):
                raise TableError(f"{path}: holds the table {expected}, not what its name says")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    data = data[HEADER_SIZE:]
    if (check is None or check(header)) and checksum([data]) != header.checksum:
        raise TableError(f"{path}: damaged data (checksum differs); build the table again")
    width = header.table_size
    return header, [data[i * width : (i + 1) * width] for i in range(len(header.tallies))]
