"""The tablebases that the engine has open."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.rules import Rules
from merels.engine.search.limits import Limit
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.small import build_in_background, has_small_tables

PATIENCE = 5.0
"""Seconds to wait for the small tables while they are built; that takes one or two."""
_LOOK = 0.02


class TableCache:
    """The tables of the rules last asked for, opened once; usable from any thread.

    Unless the user names a folder, they are those of the user's cache folder, where the small ones
    are built in the background at first use.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._key: tuple[str, str] | None = None
        self._tables: Tables | None = None
        self._builders: dict[tuple[str, str], Thread] = {}

    def fetch(
        self,
        rules: Rules,
        folder: str = "",
        *,
        wait: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[Tables | None, list[str]]:
        """The tables for some rules in a folder (empty: the user's cache), and their problems.

        The problems are reported once, when the tables are opened. With ``wait``, tables that are
        being built are waited for, `PATIENCE` at most, or until ``stopped`` is true: a search of
        so many nodes then gives the same answer at first use as later.
        """
        tables, problems = self._open(rules, folder)
        builder = self._builders.get((rules_folder(rules), folder))
        if not wait or builder is None:
            return tables, problems
        end = monotonic() + PATIENCE
        while builder.is_alive() and monotonic() < end and not stopped():
            builder.join(_LOOK)
        return self._open(rules, folder)[0], problems

    def _open(self, rules: Rules, folder: str) -> tuple[Tables | None, list[str]]:
        key = (rules_folder(rules), folder)
        with self._lock:
            if key == self._key:
                return self._tables, []
            try:
                root = Path(folder) if folder else default_root()
            except InputError as error:
                self._key, self._tables = key, None
                return None, [str(error)]
            problems = []
            if folder and not os.path.isdir(folder):
                problems = [f"'{shorten(folder)}' is not a folder of tables"]
            # Looked at first: another process may finish them while these are opened.
            complete = bool(folder) or has_small_tables(rules, root)
            tables = open_tables(root, rules)
            self._tables = tables if tables.headers else None
            self._key = key
            if not complete and key not in self._builders:
                self._builders[key] = build_in_background(rules, root, self._forget)
            return self._tables, problems + tables.problems

    def _forget(self) -> None:
        """Open the tables again when they are next asked for."""
        with self._lock:
            self._key = None


def find_tables(cache: TableCache, rules: Rules, limit: Limit) -> Tables | None:
    """The tables in the user's cache for a search; problems are named on standard error."""
    tables, problems = cache.fetch(rules, wait=limit.untimed)
    for problem in problems:
        print(f"merels: {problem}; the engine plays on without it", file=sys.stderr)
    return tables
