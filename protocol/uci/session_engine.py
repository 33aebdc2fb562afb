"""The engine of a session: a searcher that the options configure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.search.levels import Level, any_seed, level_for
from merels.engine.search.searcher import Searcher
from merels.protocol.uci.settings import Settings
from merels.protocol.uci.streams import Output

if TYPE_CHECKING:
    from merels.engine.tablebase.cache import TableCache


class SessionEngine:
    """The searcher of a session, the options that configure it, and its open tables."""

    def __init__(self, output: Output) -> None:
        self.settings = Settings()
        self.searcher = Searcher(hash_mb=self.settings.number("Hash"))
        self._output = output
        self._seed = any_seed()
        self._table_cache: TableCache | None = None

    def set(self, name: str, text: str) -> None:
        """Set an option and apply its value to the searcher; `InputError` as in `Settings.set`."""
        option = self.settings.set(name, text)
        if option.name == "Hash":
            self.searcher.resize(self.settings.number("Hash"))
        elif option.name == "Threads":
            self.searcher.threads = self.settings.number("Threads")
        elif option.name == "OpeningTables":
            self.searcher.opening = self.settings.flag("OpeningTables")
        elif option.name == "Clear Hash":
            self.searcher.clear()

    def new_game(self) -> None:
        """Clear the hash table and history, and choose a new random seed."""
        self.searcher.clear()
        self._seed = any_seed()

    @property
    def level(self) -> Level | None:
        """The level to play at; None for full strength, which UCI_AnalyseMode forces."""
        settings = self.settings
        if not settings.flag("UCI_LimitStrength") or settings.flag("UCI_AnalyseMode"):
            return None
        seed = settings.number("LevelSeed") or self._seed
        return replace(level_for(settings.number("UCI_Elo")), seed=seed)

    def prepare(self, wait: bool = False, stopped: Callable[[], bool] = lambda: False) -> None:
        """Open the tables and allocate the memory for a search.

        If the memory is too small for the option Hash, reduce Hash. `InputError` for unusable
        weights, `MemoryError` if a search is impossible. ``wait`` and ``stopped`` are as in
        `TableCache.fetch`.
        """
        if self._table_cache is None:
            # Imported here, because the import would delay the handshake.
            from merels.engine.tablebase.cache import TableCache

            self._table_cache = TableCache()
        searcher, settings = self.searcher, self.settings
        searcher.tables, problems = self._table_cache.fetch(
            settings.rules, settings["TablePath"], wait=wait, stopped=stopped
        )
        if searcher.opening:
            # Called to load the opening tables now, instead of on the first move.
            searcher.opening_for(Position(settings.rules))
        for problem in problems:
            self._output.error(f"{problem}; the engine plays on without it")
        while True:
            try:
                return searcher.prepare()
            except InputError as error:
                # The searcher reduces ``hash_mb`` if memory is the cause, and only then.
                if searcher.hash_mb == settings.number("Hash"):
                    raise
                self._output.error(f"{error}; {searcher.hash_mb} MiB are used instead")
                settings.set("Hash", str(searcher.hash_mb))
