"""Which tables of perfect play the engine uses."""

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
"""Seconds that a search without a clock waits for the small tables; they take one or two."""
_LOOK = 0.02


class Shelf:
    """The tables of the rules last asked for, opened once; free for any thread.

    Without a folder named by the user they are those of the user's cache, where the small ones are
    built at first use, in the background.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._place: tuple[str, str] | None = None
        self._tables: Tables | None = None
        self._builders: dict[tuple[str, str], Thread] = {}

    def fetch(self, rules: Rules, folder: str = "") -> tuple[Tables | None, list[str]]:
        """The tables for some rules in a folder (empty: the cache), and what is wrong with them.

        What is wrong is told once, when the tables are opened.
        """
        place = (rules_folder(rules), folder)
        with self._lock:
            if place == self._place:
                return self._tables, []
            try:
                root = Path(folder) if folder else default_root()
            except InputError as error:
                self._place, self._tables = place, None
                return None, [str(error)]
            problems = []
            if folder and not os.path.isdir(folder):
                problems = [f"'{shorten(folder)}' is no folder of tables"]
            tables = open_tables(root, rules)
            self._tables = tables if tables.headers else None
            self._place = place
            if not folder and place not in self._builders and not has_small_tables(rules, root):
                self._builders[place] = build_in_background(rules, root, self._forget)
            return self._tables, problems + tables.problems

    def settled(
        self,
        rules: Rules,
        folder: str = "",
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[Tables | None, list[str]]:
        """`fetch`, but the tables that are being built are waited for.

        The wait ends when they are there, once ``stopped`` says so, or after `PATIENCE`. So a
        search to a number of nodes is the same at first use as ever after.
        """
        _, problems = self.fetch(rules, folder)
        builder = self._builders.get((rules_folder(rules), folder))
        end = monotonic() + PATIENCE
        while builder is not None and builder.is_alive():
            if stopped() or monotonic() > end:
                break
            builder.join(_LOOK)
        return self.fetch(rules, folder)[0], problems

    def for_search(
        self,
        rules: Rules,
        limit: Limit,
        folder: str = "",
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[Tables | None, list[str]]:
        """`settled` for a search that time plays no part in, `fetch` for any other."""
        if limit.untimed:
            return self.settled(rules, folder, stopped)
        return self.fetch(rules, folder)

    def _forget(self) -> None:
        """Open the tables anew when they are next asked for."""
        with self._lock:
            self._place = None


def find_tables(shelf: Shelf, rules: Rules, limit: Limit) -> Tables | None:
    """The tables in the user's cache for a search; those that cannot be used are named."""
    tables, problems = shelf.for_search(rules, limit)
    for problem in problems:
        print(f"merels: {problem}; the engine plays on without it", file=sys.stderr)
    return tables
