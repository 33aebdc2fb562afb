"""Proofs through the placing phase, by the tables, and the file that keeps them for later ones.

The file's format is described to the byte in FORMAT.md.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.board import SYMMETRIES, mask_of, points_of
from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.position import Move, Position
from merels.engine.tablebase.files import (
    TableError,
    check_start,
    checksum,
    rule_fields,
    rules_folder,
)
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.storage import locked, write_whole

NAME = "placing.pvn"
MAGIC = b"MERELSPP"
VERSION = 1
HEADER_SIZE = 64
MOST_MB = 1 << 16

_HEADER = struct.Struct("<8sH4B2xIIIIQ20x")
_MIB = 1 << 20
_REMEDY = "solve with -store again"
_REPORT_EVERY = 1.0
"""Seconds."""


@dataclass
class Solution:
    """What was proven: values (-1, 0, 1) for the side to move, and what it took.

    ``moves`` has every legal move; symmetric ones were proven once.
    """

    value: int
    moves: dict[Move, int] = field(default_factory=dict)
    nodes: int = 0
    probes: int = 0


class Prover:
    """Proves the values of positions with men in hand; what it finds serves later proofs, too.

    Several threads may use it at once. It remembers what it finds in ``hash_mb`` MiB; `InputError`
    where there is no memory for them.
    """

    def __init__(self, tables: Tables, hash_mb: int = 256) -> None:
        self.tables = tables
        try:
            self.core = core.PlacingProver(core_rules(tables.rules), tables.core, hash_mb)
        except MemoryError:
            raise InputError(f"{hash_mb} MiB", "not enough memory for a proof") from None

    def reaches(self, position: Position, goal: int) -> bool:
        """Whether the side to move reaches at least ``goal`` (0: a draw, 1: a win).

        Raises `InputError` where a table is missing that the proof needs.
        """
        reached = self.core.reaches(core_board(position), goal)
        if reached is None:
            missing = self.core.missing
            raise InputError(
                "{}-{}".format(*missing) if missing else "proof",
                "a table that the proof needs is not here: build it first"
                if missing else "it was stopped",
            )
        return reached

    def value(self, position: Position) -> int:
        """The value for the side to move: 1, 0 or -1."""
        return int(self.reaches(position, 1)) if self.reaches(position, 0) else -1


def solve(
    tables: Tables,
    position: Position,
    *,
    threads: int = 1,
    hash_mb: int = 256,
    prover: Prover | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Solution:
    """Prove the value of a position with men in hand, and of each of its moves.

    ``prover`` may know something already; without it a new one takes ``hash_mb`` MiB. ``report``
    gets the number of proofs done and of all, about once a second. `InputError` where a table is
    missing that the proof needs.
    """
    if position.hands == (0, 0):
        raise InputError(
            format_position(position), "no man is in hand there: use merels tables probe"
        )
    moves = position.legal_moves()
    if position.outcome() is not None or not moves:
        raise InputError(format_position(position), "the game is over: there is nothing to solve")
    prover = prover or Prover(tables, hash_mb)
    shapes = {move: _shape(position.play(move)) for move in moves}
    examples = {shape: position.play(move) for move, shape in shapes.items()}
    with ThreadPoolExecutor(threads) as pool:
        work = {shape: pool.submit(prover.value, after) for shape, after in examples.items()}
        try:
            while wait(work.values(), _REPORT_EVERY).not_done:
                if report:
                    report(sum(future.done() for future in work.values()), len(work))
        except BaseException:
            prover.core.stop()
            raise
    values = {shape: future.result() for shape, future in work.items()}
    by_move = {move: -values[shape] for move, shape in shapes.items()}
    return Solution(max(by_move.values()), by_move, prover.core.nodes, prover.core.probes)


def _shape(position: Position) -> tuple[int, int]:
    """The same for all positions that a symmetry of the board turns into each other."""
    white, black = (tuple(points_of(men)) for men in position.men)
    return min(
        (
            mask_of(tuple(symmetry[point] for point in white)),
            mask_of(tuple(symmetry[point] for point in black)),
        )
        for symmetry in SYMMETRIES
    )


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
