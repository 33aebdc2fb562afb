"""Fuzzing of table files: their headers are read, and the files opened and probed."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path
from typing import Self

from merels.engine.core.convert import core_board
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.tablebase.files import (
    DEPTHS,
    HEADER_SIZE,
    PACKED,
    SUFFIX,
    VALUES,
    Header,
    TableError,
    checksum,
    file_name,
    parse_header,
    rule_fields,
    rules_folder,
)
from merels.engine.tablebase.files import Tally as Counted
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import Sector
from merels.engine.tablebase.storage import write_table
from tests.fuzz.harness import Case, Defect, FolderFuzzer, Tally
from tests.fuzz.mutate import edit, make_edits

_SECTORS = Sector(3, 3), Sector(4, 3), Sector(2, 2, 2)
_FIELDS = ((8, 2), (10, 1), (11, 1), (12, 1), (13, 1), (14, 1), (15, 1), (16, 1), (17, 1), (18, 2),
           (20, 4), (24, 4), (28, 4), (32, 4), (40, 8), (48, 8), (96, 2), (124, 4))
"""Offset and size of each field of a header, in bytes."""
_VALUES = (0, 1, 2, 3, 4, 9, 10, 18, 127, 128, 255)


def synthetic(kind: int, sector: Sector) -> tuple[Header, bytes]:
    """Return header and data of a file with random values or depths of the right length."""
    places = sector.table_places
    counts = (Counted(places, 0, 0, None, None),) * len(sector.tables)
    chance = random.Random(f"{kind} {sector}")
    parts = [
        chance.randbytes((places + 3) // 4) if kind == VALUES else _list_of_depths(places, chance)
        for _ in sector.tables
    ]
    data = b"".join(parts)
    whole = checksum([memoryview(data)])
    values = whole if kind == VALUES else synthetic(VALUES, sector)[0].checksum
    sizes = () if kind == VALUES else tuple(map(len, parts))
    rules = rule_fields(DEFAULT_RULES)
    return Header(kind, sector, rules, places, counts, whole, values, sizes), data


def _list_of_depths(places: int, chance: random.Random) -> bytes:
    """Return a valid list of depths with 20 losses in each block."""
    index, offsets = [0], list[int]()
    for first in range(0, places, 1 << 16):
        offsets += sorted(chance.sample(range(min(1 << 16, places - first)), 20))
        index.append(len(offsets))
    return struct.pack(
        f"<{len(index)}I{len(offsets)}H{len(offsets)}B",
        *index, *offsets, *(chance.randint(8, 255) for _ in offsets),
    )  # fmt: skip


class TableFiles(FolderFuzzer):
    """Complete files after edits; ``seal`` and ``seal data`` correct the checksums."""

    name = "tables"
    unit = "files"

    def __enter__(self) -> Self:
        super().__enter__()
        root = Path(self._folder.name)
        self._path = root / rules_folder(DEFAULT_RULES)
        self._path.mkdir()
        self._sound: dict[str, bytes] = {}
        self._sectors: dict[str, Sector] = {}
        for sector in _SECTORS:
            for kind in (VALUES,) if sector.hand else (VALUES, DEPTHS):
                header, data = synthetic(kind, sector)
                path = self._path / file_name(sector, kind)
                write_table(path, [header.pack(), data])
                self._sound[path.name] = path.read_bytes()
                self._sectors[path.name] = sector
        for path in Packer(root, root, DEFAULT_RULES).pack():
            self._sound[path.name] = path.read_bytes()
            self._sectors[path.name] = self._sectors[path.with_suffix(SUFFIX[VALUES]).name]
        return self

    def make(self, chance: random.Random) -> Case:
        """Return a file's name and its edits."""
        name = chance.choice(list(self._sound))
        if chance.random() < 0.5:
            edits = [_set_field(chance)]
        else:
            edits = make_edits(chance, len(self._sound[name]), HEADER_SIZE)
        seals = chance.choice(([], ["seal"], ["seal", "seal data"]))
        return [name, *edits, *seals]

    def check(self, case: Case) -> Tally:
        """Open and probe a damaged file; data that is used must be the original data."""
        name, edits = case[0], case[1:]
        if name not in self._sound:
            return Tally(rejected=1)
        sound = self._sound[name]
        data = spoilt_header(sound, edits)
        path = self._path / name
        path.write_bytes(data)
        _check_header(data, path)
        tables = Tables(DEFAULT_RULES)
        if self._sectors[name] == Sector(4, 3):
            tables.load(self._path, Sector(3, 3))  # Depths need the sectors after removals.
        try:
            if name.endswith(SUFFIX[PACKED]):
                tables.load_packed(self._path, self._sectors[name], False)
            else:
                tables.load(self._path, self._sectors[name])
        except TableError:
            return Tally(rejected=1)
        finally:
            path.write_bytes(sound)
        _probe(tables, self._sectors[name])
        refused = bool(tables.problems)
        if not refused and data[HEADER_SIZE:] != sound[HEADER_SIZE:] and "seal data" not in edits:
            raise Defect(f"spoilt data of {name} are used")
        return Tally(rejected=1) if refused else Tally(accepted=1)


def spoilt_header(data: bytes, edits: list[str]) -> bytes:
    """Return a file's bytes after edits; ``seal`` and ``seal data`` correct the checksums."""
    data = edit(data, edits)
    if "seal data" in edits and len(data) >= HEADER_SIZE:
        data = data[:28] + struct.pack("<I", zlib.crc32(data[HEADER_SIZE:])) + data[32:]
    if "seal" in edits and len(data) >= HEADER_SIZE:
        crc = struct.pack("<I", zlib.crc32(data[: HEADER_SIZE - 4]))
        data = data[: HEADER_SIZE - 4] + crc + data[HEADER_SIZE:]
    return data


def _check_header(data: bytes, path: Path) -> None:
    """Raise `Defect` if the header is accepted, but is impossible or does not round-trip."""
    try:
        header = parse_header(data, path)
    except TableError:
        return
    repacked = header.pack()
    # Unused bytes may have any value, and true flags may be any value but 0, so compare fields.
    if parse_header(repacked, path) != header or len(repacked) != HEADER_SIZE:
        raise Defect(f"{header} became {parse_header(repacked, path)}")
    sector = header.sector
    own, opponent = sector[0] + (sector.hand + 1) // 2, sector[1] + sector.hand // 2
    if not (3 <= own <= 9 and 3 <= opponent <= 9) or header.kind not in SUFFIX:
        raise Defect(f"an impossible table: {header}")
    if sector.hand == 0 and own < opponent or sector.hand and header.kind == DEPTHS:
        raise Defect(f"an impossible table: {header}")
    if len(header.tallies) != (1 if sector.hand or own == opponent else 2):
        raise Defect(f"{len(header.tallies)} tables of {sector}")


def _set_field(chance: random.Random) -> str:
    """Return an edit that sets a random field of a header."""
    at, size = chance.choice(_FIELDS)
    value = chance.choice((*_VALUES, (1 << 8 * size) - 1, chance.randrange(1 << 8 * size)))
    return f"set {at} {(value % (1 << 8 * size)).to_bytes(size, 'little').hex()}"


def _probe(tables: Tables, sector: Sector) -> None:
    """Probe random boards; their values, depths and bounds must be in range."""
    chance = random.Random(1)
    for own, opponent, _ in sector.tables:
        if not tables.core.has(own, opponent, sector.hand):
            raise Defect(f"{sector} is missing in a file that is used")
        for plies in (0, 3, 79):
            points = chance.sample(range(24), own + opponent)
            men = sum(1 << p for p in points[:own]), sum(1 << p for p in points[own:])
            position = Position.of(DEFAULT_RULES, men, sector.hands, 0, plies)
            entry = tables.probe(position)
            if entry is not None and (abs(entry.value) > 1 or (entry.depth or 0) not in range(256)):
                raise Defect(f"{entry} for {position!r}")
            bounds = tables.core.bounds(core_board(position))
            if bounds is not None and not -1 <= bounds[0] <= bounds[1] <= 1:
                raise Defect(f"bounds {bounds} for {position!r}")
            list(tables.moves(position))


