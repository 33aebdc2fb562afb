"""The small tables that every user has: built at first use, in a second or two, and kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import DEPTHS, VALUES, file_name, rules_folder
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.sectors import sectors
from merels.engine.tablebase.storage import FolderLocked

SMALL_MEN = 7
"""Three men against three, and four against three."""
_RETRY_SECONDS = 0.05
"""Seconds between looks at a build in another process."""


def has_small_tables(rules: Rules, root: Path) -> bool:
    """Whether the small tables of a rule set are kept below a folder."""
    folder = root / rules_folder(rules)
    return all(
        (folder / file_name(sector, kind)).exists()
        for sector in sectors(SMALL_MEN)
        for kind in (VALUES, DEPTHS)
    )


def small_tables(rules: Rules, root: Path | None = None, threads: int = 1) -> Tables | None:
    """All tables of a rule set; missing small ones are built first.

    None where there are none and none can be kept: an engine plays on without.
    """
    root = root or default_root()
    try:
        builder = Builder(root, rules, threads=threads, depths=True)
        while not has_small_tables(rules, root):
            try:
                builder.build(SMALL_MEN)
                break
            except FolderLocked:  # Another process builds them, or tables that include them.
                time.sleep(_RETRY_SECONDS)
        tables = open_tables(root, rules)
    except (InputError, OSError, MemoryError, RuntimeError):
        return None  # RuntimeError: the system allows no thread, or the program is ending.
    return tables if tables.headers else None


def build_in_background(
    rules: Rules, root: Path, done: Callable[[], None]
) -> threading.Thread:
    """Build the small tables on a background thread.

    Its last act, if they are built, is to call ``done``.
    """

    def build() -> None:
        if small_tables(rules, root) is not None:
            done()

    thread = threading.Thread(target=build, name="small tables", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        pass  # The system allows no thread: an engine plays on without these tables.
    return thread
