"""Open tablebases: the value of a position and of each of its moves."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.errors import InputError, shown
from merels.engine.common.folders import user_folder
from merels.engine.common.numbers import whole_number
from merels.engine.common.shell import shell_text
from merels.engine.core import core
from merels.engine.core.convert import core_board, core_history, core_rules, decode_move
from merels.engine.game.position import Move, Position, required_position
from merels.engine.game.rules import MEN_PER_SIDE, MINIMUM_MEN, Rules, required_rules
from merels.engine.tablebase.files import (
    DEPTHS,
    PACKED,
    SUFFIX,
    VALUES,
    Header,
    TableError,
    file_name,
    open_table,
    rules_folder,
)
from merels.engine.tablebase.packed import PackedTable, open_packed
from merels.engine.tablebase.sectors import (
    MAX_MEN,
    MIN_MEN,
    Sector,
    sectors,
    stored_sectors,
)

MAX_TABLE_DEPTH = 255
"""Greatest depth in plies that is stored; it also represents every greater depth."""

MoveRow = tuple[int, int | None, int | None, bool, bool, bool, int]
"""A row of `core.TableSet.moves`."""


class TableValue(NamedTuple):
    """A table's value for the side to move (-1, 0, 1) and its depth to conversion.

    ``depth`` is the number of plies to the next removal or the end, from `MAX_TABLE_DEPTH` on only
    a lower bound; None for a draw, and for a table without depths.
    """

    value: int
    depth: int | None


class Tables:
    """The open tables of one rule set.

    ``core`` holds them for compiled code. ``headers`` has the header of each open file of values;
    ``problems`` has a line for each file that cannot be used or proves to be damaged.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = required_rules(rules)
        self.core = core.TableSet(core_rules(rules))
        self.headers: dict[Sector, Header] = {}
        self.problems: list[str] = []
        self._mapped: list[mmap.mmap] = []

    @property
    def men(self) -> int:
        """Greatest number of men up to which all sectors of the moving phase are open, or 0."""
        complete = 0
        for men in range(MIN_MEN, MAX_MEN + 1):
            if not self.headers.keys() >= set(sectors(men)):
                break
            complete = men
        return complete

    @property
    def complete(self) -> bool:
        """Whether all sectors are open, those of the placing phase included."""
        return self.headers.keys() >= set(stored_sectors(self.rules))

    @property
    def has_all_depths(self) -> bool:
        """Whether every open sector of the moving phase has depths."""
        return all(
            self.has_depths(*table[:2])
            for sector in self.headers
            if not sector.hand
            for table in sector.tables
        )

    def load_packed(self, folder: Path, sector: Sector, check: bool) -> None:
        """Open a sector's packed file in the folder of the rules; `TableError` if that fails.

        If a block proves to be damaged when it is probed, its positions have no value, and a line
        in ``problems`` names the block.
        """
        header, tables = open_packed(
            folder / file_name(sector, PACKED), self.rules, check, self.problems
        )
        self._add(folder, header, tables, check)

    def load(self, folder: Path, sector: Sector, check: bool = False) -> None:
        """Open a sector's files in the folder of the rules.

        `TableError` if the file of values cannot be used. A bad file of depths is only added to
        ``problems``.
        """
        path = folder / file_name(sector, VALUES)
        header, values = open_table(path, self.rules, check)
        if isinstance(values[0].obj, mmap.mmap):
            self._mapped.append(values[0].obj)
        self._add(folder, header, values, check)

    def release(self) -> None:
        """Return the memory of mapped files to the system; the next probe reads the file again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._mapped:
                mapped.madvise(mmap.MADV_DONTNEED)

    def _add(
        self, folder: Path, header: Header, values: Sequence[memoryview | PackedTable], check: bool
    ) -> None:
        """Add the tables of a sector with its depths, if any; they replace older ones together."""
        sector = header.sector

        def add(depths: Sequence[memoryview | None]) -> None:
            self.core.add([
                (*table, table_values, depth_list)
                for table, table_values, depth_list in zip(sector.tables, values, depths)
            ])

        try:
            add(self._open_depths(folder, header, check) or [None] * len(values))
        except (TableError, ValueError) as error:
            path = folder / file_name(sector, DEPTHS)
            # A `ValueError` of the core does not name the file.
            where = "" if isinstance(error, TableError) else f"{path}: "
            self.problems.append(f"{where}{error}")
            add([None] * len(values))
        self.headers[sector] = header

    def _open_depths(self, folder: Path, header: Header, check: bool) -> list[memoryview]:
        """Return the depths of a sector of these values, [] without a file; `TableError`."""
        path = folder / file_name(header.sector, DEPTHS)
        # A search finds depths that are not listed; it probes positions after removals.
        if not path.exists() or not self.headers.keys() >= self._after_removals(header.sector):
            return []
        depths_header, depths = open_table(path, self.rules, check)
        if depths_header.values_checksum != header.values_checksum:
            raise TableError(f"{path}: made for another table of values; build the table again")
        return depths

    def _after_removals(self, sector: Sector) -> set[Sector]:
        """Return the sectors of the moving phase that a removal leads to."""
        own, opponent = sector[:2]
        removed = (1, 2) if self.rules.double_mill == "each" else (1,)
        after = [men for n in removed for men in ((own - n, opponent), (own, opponent - n))]
        return {Sector(max(men), min(men)) for men in after if min(men) >= MINIMUM_MEN}

    def valid_for(self, rules: Rules) -> bool:
        """Return whether the tables fit ``rules``, whose Repetition may differ."""
        required_rules(rules)
        return rules_folder(self.rules) == rules_folder(rules)

    def has_depths(self, own: int, opponent: int) -> bool:
        """Return whether the table of ``own`` men to move against ``opponent`` has depths."""
        for name, men in (("own", own), ("opponent", opponent)):
            whole_number(men, 0, MEN_PER_SIDE, name)
        return self.core.has_depths(own, opponent)

    def probe(self, position: Position) -> TableValue | None:
        """Return a position's value and depth, or None if they are unknown.

        The plies since the last removal are ignored; see `bounds`.
        """
        stored = self.core.probe(core_board(required_position(position)))
        if stored is None:
            return None
        value, depth = stored
        return TableValue(value, None if depth < 0 else depth)

    def bounds(self, position: Position) -> tuple[int, int] | None:
        """Return the least and greatest value that a position may have, or None if unknown.

        They differ if a limit on plies may turn a win or loss into a draw.
        """
        return self.core.bounds(core_board(required_position(position)))

    def moves(self, position: Position) -> Iterator[tuple[Move, TableValue | None]]:
        """Yield each legal move with its value for the side that plays it, or None if unknown.

        The value accounts for the repetitions and plies of the game. The depth counts the move,
        too: a move that removes a man or ends the game has depth 1.
        """
        required_position(position)
        values = {decode_move(row[0]): row[1:3] for row in self.move_rows(position)}
        for move in position.legal_moves():
            value, depth = values[move]
            yield move, None if value is None else TableValue(value, depth)

    def move_rows(
        self, position: Position, among: Sequence[int] | None = None,
        deadline: core.Deadline | None = None, not_before: int = 0, *, equal_wins: bool = False,
    ) -> list[MoveRow]:
        """Return the rows of `core.TableSet.moves` for a position's moves."""
        return self.core.moves(
            core_rules(position.rules), core_board(position), core_history(position), among,
            deadline=deadline, not_before=not_before, equal_wins=equal_wins,
        )

    def holding(self, position: Position) -> tuple[int, int] | None:
        """Return the number of legal moves that keep the value, and of all legal moves.

        None if the game is over, or the tables lack the value of a legal move.
        """
        moves = [stored for _, stored in self.moves(position)]
        values = [stored.value for stored in moves if stored is not None]
        if not values or len(values) < len(moves) or position.outcome() is not None:
            return None
        return values.count(max(values)), len(values)


def open_tables(
    root: Path | str, rules: Rules, men: int = MAX_MEN, check: bool = False
) -> Tables:
    """Return all usable tables of a rule set below a folder, up to ``men`` men.

    ``check``: compare every checksum. The result's ``problems`` name each unusable file, and a
    ``root`` that is the inner folder of one rule set; a missing file is no problem.
    """
    tables = Tables(rules)
    whole_number(men, 0, MAX_MEN, "men")
    if not isinstance(root, (str, Path)):
        raise InputError(shown(root), "expected the folder of tables")
    folder = Path(root) / rules_folder(rules)
    names = _names_in(folder)
    endings = SUFFIX[VALUES], SUFFIX[PACKED]
    if not names and any(name.endswith(endings) for name in _names_in(root)):
        tables.problems.append(
            f"{root}: holds the tables of one rule set; give the folder that contains this folder"
        )
    for sector in stored_sectors(rules, men):
        for kind in (VALUES, PACKED):
            if sector in tables.headers or file_name(sector, kind) not in names:
                continue
            try:
                if kind == VALUES:
                    tables.load(folder, sector, check)
                else:
                    tables.load_packed(folder, sector, check)
            except TableError as error:
                tables.problems.append(str(error))
    return tables


def _names_in(folder: Path | str) -> set[str]:
    """Return the names in a folder; none if it is missing, or if its name is invalid."""
    try:
        return set(os.listdir(folder))
    except (OSError, ValueError):
        return set()


def build_command(
    rules: Rules, root: Path, which: Sequence[str] = ("-all", "-placing")
) -> str:
    """Return the command line that builds tables of a rule set below a folder, by default all."""
    words = ["merels", "tables", "build", *which, "-variant", rules.variant]
    if fields := rules.fields_text():
        words += ["-set", *fields.split()]
    if root != default_root():
        words += ["-dir", str(root)]
    return shell_text(words)


def default_root() -> Path:
    """Return the default folder of tables: ``MERELS_TABLES``, or one in the user's cache folder.

    `InputError` if the user has no home folder.
    """
    return user_folder("tables", "MERELS_TABLES", cache=True)
