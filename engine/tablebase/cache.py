"""The tablebases that an engine process has open."""

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

MAX_WAIT = 5.0
"""Longest wait for the small tables, in seconds; building them takes one or two seconds."""
MAX_BUILDS = 2
"""Maximum number of rule sets whose small tables are built at the same time.

It is more than one, because a build may wait long for another process to end."""
MAX_FAILED_BUILDS = 64
"""Number of failed builds that are stored, so that they are not tried again."""
_CHECK_SECONDS = 0.02
"""Seconds between checks whether a wait was stopped."""
_Key = tuple[str, str]
"""A rule set's folder name, and the folder of tables that the user named, or ''."""


class TableCache:
    """The open tables of the rule set that was last requested; usable from any thread.

    They are in a folder that the user names, or in the user's cache folder. Missing small tables of
    the cache folder are built in the background when their rule set is requested.
    """

    def __init__(self) -> None:
        self.on_built: Callable[[], None] = lambda: None
        """Called in another thread when a build has ended; the next request opens its tables."""
        self._lock = Condition()
        """Notified when a build has ended."""
        self._key: _Key | None = None
        self._tables: Tables | None = None
        self._building: set[_Key] = set()
        self._failed: deque[_Key] = deque(maxlen=MAX_FAILED_BUILDS)
        self._queued: _Key | None = None
        """The last requested key, if its build must wait for another build to end."""

    def fetch(
        self,
        rules: Rules,
        folder: str = "",
        *,
        wait: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[Tables | None, list[str]]:
        """Return the tables of a rule set in ``folder``, and the problems of opening them.

        An empty ``folder`` is the user's cache folder. Problems are returned once, when the tables
        are opened. ``wait``: wait for small tables that are being built, up to `MAX_WAIT` or until
        ``stopped`` returns True. A search limited by nodes waits, so that its first result is the
        same as later ones.
        """
        key, end = (rules_folder(rules), folder), monotonic() + MAX_WAIT
        with self._lock:
            tables, problems = self._open(key, rules)
            while wait and (key in self._building or key == self._queued):
                if monotonic() > end or stopped():
                    break
                self._lock.wait(_CHECK_SECONDS)
                tables, _ = self._open(key, rules)
        return tables, problems

    def reopen(self) -> None:
        """Open the tables again at the next request, because more have been built."""
        with self._lock:
            self._key = None

    def _open(self, key: _Key, rules: Rules) -> tuple[Tables | None, list[str]]:
        """Return the result of `fetch` without waiting; the caller must hold the lock."""
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
        # Check before opening: if another process finishes the small tables in between, a later
        # call opens them.
        complete = bool(folder) or has_small_tables(rules, root)
        tables = open_tables(root, rules)
        self._tables = tables if tables.headers else None
        self._key = key
        self._queued = None
        if not complete and key not in self._building and key not in self._failed:
            if len(self._building) >= MAX_BUILDS:
                self._queued = key
            elif build_in_background(rules, root, partial(self._end_build, key)) is not None:
                self._building.add(key)
        return self._tables, problems + tables.problems

    def _end_build(self, key: _Key, built: bool) -> None:
        """Record the end of a build, so that the next request opens the tables again."""
        with self._lock:
            self._building.discard(key)
            if not built:
                self._failed.append(key)
            self._key = None
            self._lock.notify_all()
        self.on_built()
