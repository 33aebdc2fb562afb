"""Tablebases opened for use: what they know of a position and of each of its moves."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.common.folders import user_folder
from merels.engine.common.shell import shell_text
from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import MINIMUM_MEN, Rules
from merels.engine.tablebase.files import (
    DEPTHS,
    PACKED,
    VALUES,
    Header,
    TableError,
    check_rules,
    file_name,
    open_table,
    rules_folder,
)
from merels.engine.tablebase.packed import open_packed
from merels.engine.tablebase.sectors import (
    MAX_MEN,
    MIN_MEN,
    AnySector,
    Sector,
    kept_placing_sectors,
    sectors,
)

MAX_TABLE_DEPTH = 255
"""Plies; stands for every greater depth, too."""


class Known(NamedTuple):
    """A value for the side to move (-1, 0, 1) and its depth to conversion.

    ``depth`` is in plies to the next removal or the end, at most `MAX_TABLE_DEPTH`. It is None for
    a draw and where no depths are kept.
    """

    value: int
    depth: int | None


class Tables:
    """The open tables of one rule set; ``core`` is what compiled code probes.

    ``headers`` has those of the files of values. ``problems`` has a line for each file that is
    there and cannot be used.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.core = core.TableSet(core_rules(rules))
        self.headers: dict[AnySector, Header] = {}
        self.problems: list[str] = []
        self._mapped: list[mmap.mmap] = []

    @property
    def men(self) -> int:
        """The number of men up to which every sector is here; 0: not even three against three."""
        known = 0
        for men in range(MIN_MEN, MAX_MEN + 1):
            if not self.headers.keys() >= set(sectors(men)):
                break
            known = men
        return known

    @property
    def whole(self) -> bool:
        """Whether every position of every phase has its value here."""
        return self.headers.keys() >= {*sectors(), *kept_placing_sectors(self.rules)}

    @property
    def deep(self) -> bool:
        """Whether depths are here for every sector of the moving phase."""
        return all(
            self.has_depths(*sides)
            for sector in self.headers
            if isinstance(sector, Sector)
            for sides in sector.sides
        )

    def add(
        self, header: Header, values: list[memoryview], depths: list[memoryview] | None
    ) -> None:
        """Use the tables of a sector."""
        for i, (own, opponent) in enumerate(header.sector.sides):
            hand = header.sector.hand
            self.core.add(own, opponent, values[i], depths[i] if depths else None, hand)
        self.headers[header.sector] = header

    def load_packed(self, folder: Path, sector: AnySector, check: bool) -> None:
        """Open a sector's packed file in the folder of the rules; `TableError` where it cannot be.

        A block of it that turns out to be damaged later is unknown, and named in ``problems``.
        """
        header, tables = open_packed(
            folder / file_name(sector, PACKED), self.rules, check, self.problems
        )
        for table, (own, opponent) in zip(tables, sector.sides):
            self.core.add_packed(own, opponent, table, sector.hand)
        self.headers[sector] = header
        self._add_depths(folder, header, check)

    def load(self, folder: Path, sector: AnySector, check: bool = False) -> None:
        """Open a sector's files in the folder of the rules; `TableError` for those of values."""
        path = folder / file_name(sector, VALUES)
        header, values = open_table(path, self.rules, check)
        if isinstance(values[0].obj, mmap.mmap):
            self._mapped.append(values[0].obj)
        self.add(header, values, None)
        self._add_depths(folder, header, check)

    def release(self) -> None:
        """Give back the memory that read files of values take up; they can still be probed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._mapped:
                mapped.madvise(mmap.MADV_DONTNEED)

    def _add_depths(self, folder: Path, header: Header, check: bool) -> None:
        """Use the depths of a sector whose values are open; a bad file of them is a problem."""
        path = folder / file_name(header.sector, DEPTHS)
        # The search for a depth that is not listed looks at what removals lead to.
        if not path.exists() or not self.headers.keys() >= self._after_removals(header.sector):
            return
        try:
            of_depths, depths = open_table(path, self.rules, check)
            if of_depths.values_checksum != header.values_checksum:
                raise TableError(f"{path}: belongs to other values; build the table again")
            for (own, opponent), one in zip(header.sector.sides, depths):
                self.core.add_depths(own, opponent, one)
        except (TableError, ValueError) as error:
            named = str(error) if isinstance(error, TableError) else f"{path}: {error}"
            self.problems.append(named)

    def _after_removals(self, sector: AnySector) -> set[Sector]:
        """The sectors of the moving phase that a removal leads to."""
        own, opponent = sector[:2]
        removed = (1, 2) if self.rules.double_mill == "each" else (1,)
        left = [men for n in removed for men in ((own - n, opponent), (own, opponent - n))]
        return {Sector(max(men), min(men)) for men in left if min(men) >= MINIMUM_MEN}

    def hold_for(self, rules: Rules) -> bool:
        """Whether the tables hold for some rules, which may differ in what repetitions count."""
        return rules.repetition != 1 and rules_folder(self.rules) == rules_folder(rules)

    def has_depths(self, own: int, opponent: int) -> bool:
        """Whether depths are here for ``own`` men to move against ``opponent``."""
        return self.core.has_depths(own, opponent)

    def probe(self, position: Position) -> Known | None:
        """Return a position's value and depth, in the moving phase just after a removal."""
        found = self.core.probe(core_board(position))
        if found is None:
            return None
        value, depth = found
        return Known(value, None if depth < 0 else depth)

    def bounds(self, position: Position) -> tuple[int, int] | None:
        """The least and the greatest value that a position can have after the plies played."""
        return self.core.bounds(core_board(position))

    def moves(self, position: Position) -> Iterator[tuple[Move, Known | None]]:
        """Each legal move with what is known of it for the side that plays it.

        The depth counts from before the move; one with a removal, or that ends the game, has 1. A
        move whose win or loss comes too late for a limit on plies is a draw.
        """
        for move in position.legal_moves():
            after = position.play(move)
            outcome = after.outcome()
            if outcome is not None:
                value = outcome.value(position.side)
                yield move, Known(value, 1 if value else None)
                continue
            known = self.probe(after)
            if known is None:
                yield move, None
                continue
            if known.value and self.bounds(after) == (0, 0):
                known = Known(0, None)
            depth = known.depth
            if depth is not None:
                depth = 1 if move.removed else depth + 1
            yield move, Known(-known.value, depth)

    def holding(self, position: Position) -> tuple[int, int] | None:
        """How many of the legal moves keep the value, and how many there are.

        None where the game is over, or the tables do not know every move.
        """
        known = [known for _, known in self.moves(position)]
        values = [found.value for found in known if found is not None]
        if not values or len(values) < len(known) or position.outcome() is not None:
            return None
        return values.count(max(values)), len(values)


def open_tables(root: Path, rules: Rules, men: int = MAX_MEN, check: bool = False) -> Tables:
    """All usable tables of a rule set below a folder; ``check`` reads every byte of them.

    The ``problems`` of the result name files that cannot be used, but no missing ones.
    """
    tables = Tables(rules)
    try:
        check_rules(rules)
    except InputError as error:
        tables.problems.append(str(error))
        return tables
    folder = root / rules_folder(rules)
    try:
        there = set(os.listdir(folder))
    except (OSError, ValueError):
        there = set()  # No such folder, or an impossible name.
    known: list[AnySector] = [*sectors(men), *kept_placing_sectors(rules, men)]
    for sector in known:
        for kind in (VALUES, PACKED):
            if sector in tables.headers or file_name(sector, kind) not in there:
                continue
            try:
                if kind == VALUES:
                    tables.load(folder, sector, check)
                else:
                    tables.load_packed(folder, sector, check)
            except TableError as error:
                tables.problems.append(str(error))
    return tables


def build_command(
    rules: Rules, root: Path, which: Sequence[str] = ("-all", "-placing")
) -> str:
    """The command line that builds tables of a rule set below a folder: by default all."""
    words = ["merels", "tables", "build", *which, "-variant", rules.variant]
    if fields := rules.fields_text():
        words += ["-set", *fields.split()]
    if root != default_root():
        words += ["-dir", str(root)]
    return shell_text(words)


def default_root() -> Path:
    """Where tables are kept by default: in ``MERELS_TABLES``, or in the user's cache folder.

    `InputError` where the user has no home.
    """
    return user_folder("tables", "MERELS_TABLES", cache=True)
