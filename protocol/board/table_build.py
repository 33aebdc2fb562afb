"""Tables of the default rules, which the board builds on its first start."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, PRESETS, Rules
from merels.engine.tablebase.build import Builder, Progress
from merels.engine.tablebase.files import PACKED, VALUES, file_name, rules_folder
from merels.engine.tablebase.probe import default_root
from merels.engine.tablebase.sectors import Sector, sectors
from merels.engine.tablebase.storage import FolderLocked
from merels.protocol.board.reviewing import TABLE_CACHE

MEN = 10
"""Most men in these tables. Their files take 67 MB, and the build five seconds on one processor."""
_RETRY_SECONDS = 0.5
"""Seconds between attempts to lock a folder in which another process builds."""
_REPORT_STEP = 0.01
"""Minimum share of the work between two reports."""
CLOSE_SECONDS = 5.0
"""Seconds that `TableBuild.close` waits for the thread."""


class _Stopped(Exception):
    """The board was closed during the build."""


class TableBuild:
    """Builds the tables in a thread, which calls ``on_change`` when `share` changes."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        self.share: float | None = None
        """Share of the work that is done; None before and after the build."""
        self.on_change = on_change
        self._closing = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the build, unless the tables exist or cannot be built here."""
        try:
            root = default_root()
        except InputError:
            return
        if has_tables(DEFAULT_RULES, root):
            return
        self._thread = Thread(target=self._build, args=(root,), name="tables", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # The system cannot start a thread.
            self._thread = None

    def close(self) -> None:
        """Stop the build; finished tables are kept."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _build(self, root: Path) -> None:
        try:
            while not has_tables(DEFAULT_RULES, root):
                try:
                    Builder(root, DEFAULT_RULES, depths=True, report=self._report).build(MEN)
                    break
                except FolderLocked:  # Another process builds these tables.
                    if self._closing.wait(_RETRY_SECONDS):
                        return
        except (InputError, OSError, MemoryError, RuntimeError, _Stopped):
            pass  # The board works without these tables.
        finally:
            self.share = None
            TABLE_CACHE.reopen()
            self.on_change()

    def _report(self, progress: Progress) -> None:
        if self._closing.is_set():
            raise _Stopped
        share = progress.done / progress.total if progress.total else 0.0
        if self.share is None or share >= self.share + _REPORT_STEP:
            self.share = share
            self.on_change()
        time.sleep(0)  # Yield the GIL to requests of the page.


def has_tables(rules: Rules, root: Path) -> bool:
    """Return whether the values of all sectors of up to `MEN` men exist below a folder."""
    files = _file_names(rules, root)
    return all(_has_sector(files, sector) for sector in sectors(MEN))


def other_tables(position: Position) -> list[str]:
    """Return the rule sets whose tables have a position; empty if its own rules' tables have it.

    Rule sets that differ only in their names share their tables; only the first is returned.
    """
    try:
        root = default_root()
    except InputError:
        return []
    sector = _sector_of(position)
    own_folder = rules_folder(position.rules)
    if sector is None or _has_sector(_file_names(position.rules, root), sector):
        return []
    folders: dict[str, str] = {}
    for name, rules in sorted(PRESETS.items(), key=lambda item: item[1] != DEFAULT_RULES):
        if rules_folder(rules) != own_folder and _has_sector(_file_names(rules, root), sector):
            folders.setdefault(rules_folder(rules), name)
    return list(folders.values())


def _sector_of(position: Position) -> Sector | None:
    """Return the sector with a position's value, or None.

    Positions with an odd number of men in hand are not stored, but those after a placing are.
    """
    own, opponent = (position.men[side].bit_count() for side in (position.side, 1 - position.side))
    hand = sum(position.hands)
    if hand % 2:
        own, opponent, hand = opponent, own + 1, hand - 1
    if hand:
        return Sector(own, opponent, hand)
    return Sector(max(own, opponent), min(own, opponent)) if min(own, opponent) >= 3 else None


def _file_names(rules: Rules, root: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(root / rules_folder(rules)))
    except (OSError, ValueError):
        return frozenset()


def _has_sector(files: frozenset[str], sector: Sector) -> bool:
    return not files.isdisjoint({file_name(sector, kind) for kind in (VALUES, PACKED)})
