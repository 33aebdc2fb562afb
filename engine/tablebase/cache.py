"""The tablebases that the engine has open."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Condition
from time import monotonic

from merels.engine.common.errors import InputError, shorten
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.small import build_in_background, has_small_tables

PATIENCE = 5.0
"""Seconds to wait for the small tables while they are built; that takes one or two."""
MOST_BUILDS = 2
"""Rule sets whose small tables are built at once. One may wait long for another program."""
MOST_REMEMBERED = 64
_LOOK = 0.02
_Key = tuple[str, str]
"""The folder names of a rule set and of its tables."""


class TableCache:
    """The tables of the rules last asked for, opened once; usable from any thread.

    Unless the user names a folder, they are those of the user's cache folder, where the small ones
    are built in the background at first use.
    """

    def __init__(self) -> None:
        self._lock = Condition()
        """Notified when a build has ended."""
        self._key: _Key | None = None
        self._tables: Tables | None = None
        self._building: set[_Key] = set()
        self._failed: deque[_Key] = deque(maxlen=MOST_REMEMBERED)
        """Builds that have failed last, which are not tried again."""
        self._queued: _Key | None = None
        """The key last asked for, if its build must wait for another one to end."""

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
        key, end = (rules_folder(rules), folder), monotonic() + PATIENCE
        with self._lock:
            tables, problems = self._open(key, rules)
            while wait and (key in self._building or key == self._queued):
                if monotonic() > end or stopped():
                    break
                self._lock.wait(_LOOK)
                tables, _ = self._open(key, rules)
        return tables, problems

    def _open(self, key: _Key, rules: Rules) -> tuple[Tables | None, list[str]]:
        """The tables and problems as `fetch` returns them; the caller holds the lock."""
        folder = key[1]
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
        self._queued = None
        if not complete and key not in self._building and key not in self._failed:
            if len(self._building) >= MOST_BUILDS:
                self._queued = key
            elif build_in_background(rules, root, partial(self._end, key)) is not None:
                self._building.add(key)
        return self._tables, problems + tables.problems

    def _end(self, key: _Key, built: bool) -> None:
        """Open the tables again when they are next asked for: a build has ended."""
        with self._lock:
            self._building.discard(key)
            if not built:
                self._failed.append(key)
            self._key = None
            self._lock.notify_all()
