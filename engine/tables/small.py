"""The small tables that every user has: built at first use, in a second or two, and kept."""

from __future__ import annotations

from pathlib import Path

from merels.engine.errors import InputError
from merels.engine.rules import Rules
from merels.engine.tables.build import Builder
from merels.engine.tables.files import file_name, pairs, rules_folder, VALUES
from merels.engine.tables.probe import Tables, default_root, open_tables

SMALL_MEN = 7
"""Three against three, three against four and four against three."""


def small_tables(rules: Rules, root: Path | None = None, threads: int = 1) -> Tables | None:
    """All tables of a rule set, the small ones built where they are missing.

    None where there are none and none can be kept: an engine goes on without.
    """
    root = root or default_root()
    try:
        folder = root / rules_folder(rules)
        if not all((folder / file_name(*pair, VALUES)).exists() for pair in pairs(SMALL_MEN)):
            Builder(root, rules, threads=threads, depths=True).build(SMALL_MEN)
        tables = open_tables(root, rules)
    except (InputError, OSError, MemoryError):
        return None
    return tables if tables.headers else None
