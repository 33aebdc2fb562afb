"""Tables of the opening, which are part of the package: positions with ten or more men in hand.

With them the engine chooses among the moves that keep the proven value, from the first placement
to the eighth. They are packed tables; `mill`, `morris` and `roman` share theirs.

    python -m merels.engine.tablebase.opening DIR mill

makes them again from complete tables below DIR, byte for byte. Without names it makes those of all
rule sets.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS, Rules, preset
from merels.engine.tablebase.files import PACKED, TableError, file_name, rules_folder
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.probe import Tables, build_command
from merels.engine.tablebase.sectors import Sector, kept_placing_sectors

ROOT = Path(__file__).parent / "opening"
"""Folder of the package's tables."""
LEAST_HAND = 10
"""Least number of men in hand, of both sides together, of a position in these tables."""

_SHARED = {rules_folder(PRESETS["morris"]): PRESETS["mill"]}
"""By folder, rules whose opening has the values of other rules, which are stored once.

`morris` has no limit on plies with three men each; with ten men in hand, no value depends on it."""


def stored_rules(rules: Rules) -> Rules:
    """Return the rules of the files that have the values of ``rules``."""
    return _SHARED.get(rules_folder(rules), rules)


def opening_sectors(rules: Rules) -> list[Sector]:
    """Return the sectors of the opening under some rules."""
    return [sector for sector in kept_placing_sectors(rules) if sector.hand >= LEAST_HAND]


def opening_tables(position: Position) -> Tables | None:
    """Return the package's tables if they have the value of every move of a position."""
    if sum(position.hands) <= LEAST_HAND:
        return None
    return _open(stored_rules(position.rules))


@cache
def _open(rules: Rules) -> Tables | None:
    """Open the package's tables; None if it has none for these rules.

    `InputError` if a file cannot be used.
    """
    folder = ROOT / rules_folder(rules)
    if not folder.is_dir():
        return None
    tables = Tables(rules)
    for sector in opening_sectors(rules):
        try:
            tables.load_packed(folder, sector, check=True)
        except TableError as error:
            path, cause = folder / file_name(sector, PACKED), error.__cause__
            advice = "missing or damaged table; reinstall merels"
            if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
                advice = f"cannot read this table: {cause.strerror}"
            raise InputError(str(path), advice) from error
    return tables


def make(source: Path, target: Path, rules: Rules) -> list[Path]:
    """Make the packed files of a rule set from its complete tables below ``source``.

    `InputError` if a table is missing or damaged, or the folder cannot be written to.
    """
    packer = Packer(source, target, rules)
    files = packer.pack(opening_sectors(rules))
    if packer.problems or len(files) < len(opening_sectors(rules)):
        problem = "; ".join(packer.problems) or "tables of the opening are missing"
        command = build_command(rules, source)
        raise InputError(str(packer.source_folder), f"{problem}; make them with {command}")
    return files


def main(argv: list[str]) -> None:
    """Run the command that makes the package's files."""
    parser = argparse.ArgumentParser(description="Make the package's tables of the opening.")
    parser.add_argument("tables", type=Path, metavar="DIR", help="folder of complete tables")
    parser.add_argument("variants", nargs="*", metavar="R", help="rule sets (default: all)")
    arguments = parser.parse_args(argv)
    try:
        chosen = [stored_rules(preset(name)) for name in arguments.variants or PRESETS]
        for rules in {rules_folder(rules): rules for rules in chosen}.values():
            files = make(arguments.tables, ROOT, rules)
            size = sum(file.stat().st_size for file in files)
            print(f"{rules}: {len(files)} files, {size:,} bytes", flush=True)
    except InputError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
