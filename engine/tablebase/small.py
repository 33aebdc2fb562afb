"""Small tables, which are built in the user's cache folder at first use, in a second or two."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.game.rules import PRESETS, Rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import DEPTHS, VALUES, file_name, rules_folder
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.sectors import sectors
from merels.engine.tablebase.storage import LOCK, FolderLocked, locked

SMALL_MEN = 7
"""Men of the small tables: three against three, and four against three."""
MAX_RULE_SETS = 16
"""Number of rule sets, in addition to the presets, whose small tables are kept: 1 to 3 MB each."""
_RETRY_SECONDS = 0.05
"""Seconds between attempts to lock a folder that another process has locked."""
_FOLDER = re.compile(r"[a-z]++-[a-z]++-[a-z]++-[a-z]++-\d++-\d++")
"""The form of the names that `rules_folder` returns."""


def has_small_tables(rules: Rules, root: Path) -> bool:
    """Return whether all files of a rule set's small tables exist below a folder."""
    folder = root / rules_folder(rules)
    return all(
        (folder / file_name(sector, kind)).exists()
        for sector in sectors(SMALL_MEN)
        for kind in (VALUES, DEPTHS)
    )


def small_tables(rules: Rules, root: Path | None = None, threads: int = 1) -> Tables | None:
    """Build missing small tables, then return all tables of a rule set.

    None if the build fails or there are no tables: an engine then plays without them.
    """
    root = root or default_root()
    try:
        builder = Builder(root, rules, threads=threads, depths=True)
        while not has_small_tables(rules, root):
            try:
                builder.build(SMALL_MEN)
                _remove_oldest(root, builder.folder)
                break
            except FolderLocked:  # Another process builds tables of the same rule set.
                time.sleep(_RETRY_SECONDS)
        tables = open_tables(root, rules)
    except (InputError, OSError, MemoryError, RuntimeError):
        return None  # RuntimeError: the system allows no thread, or the program is ending.
    return tables if tables.headers else None


def _remove_oldest(root: Path, built: Path) -> None:
    """Remove the oldest small tables beyond `MAX_RULE_SETS` rule sets, not counting the presets.

    The folder ``built`` is kept, and so is every folder that contains other files.
    """
    presets = {rules_folder(rules) for rules in PRESETS.values()}
    small = {file_name(sector, kind) for sector in sectors(SMALL_MEN) for kind in (VALUES, DEPTHS)}
    ages = []
    with suppress(OSError):
        for folder in root.iterdir():
            if folder.is_symlink() or folder.name in presets or folder == built:
                continue
            if _FOLDER.fullmatch(folder.name):
                if {file.name for file in folder.iterdir()} <= {*small, LOCK}:
                    ages.append((folder.stat().st_mtime_ns, folder))
    kept = MAX_RULE_SETS - (built.name not in presets)
    for _, folder in sorted(ages, reverse=True)[kept:]:
        # `InputError`: another process writes to the folder.
        with suppress(OSError, InputError):
            with locked(folder):
                for name in small:
                    (folder / name).unlink(missing_ok=True)
            folder.rmdir()


def build_in_background(
    rules: Rules, root: Path, done: Callable[[bool], None]
) -> threading.Thread | None:
    """Build the small tables on a daemon thread; return the thread.

    At its end the thread calls ``done``, with True if there are any tables. None if the system
    refused to start a thread: the engine then plays without these tables.
    """

    def build() -> None:
        tables = None
        try:
            tables = small_tables(rules, root)
        finally:
            done(tables is not None)

    thread = threading.Thread(target=build, name="small tables", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread
