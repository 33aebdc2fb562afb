"""The engines that answer a bot's requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from merels.engine.common.errors import InputError
from merels.engine.search.levels import Level
from merels.engine.search.searcher import DEFAULT_HASH
from merels.engine.tablebase.cache import TableCache
from merels.protocol.bot.move_request import Request
from merels.protocol.client.any_engine import AnyEngine, PlayResult
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import LEVEL_OPTIONS, EngineSpec
from merels.protocol.client.in_process import InProcessEngine, find_tables
from merels.protocol.common.options import Value
from merels.protocol.process.errors import EngineError


class InProcessPlayer:
    """The built-in engine, in this process."""

    def __init__(self, hash_mb: int = DEFAULT_HASH, threads: int = 1) -> None:
        self._engine = InProcessEngine(hash_mb, threads)
        self._engine.prepare()
        self._table_cache = TableCache()
        self.name = self._engine.name

    def new_game(self) -> None:
        """Clear the transposition table and the histories of earlier searches."""
        self._engine.new_game()

    def choose(self, request: Request) -> PlayResult:
        """Return the engine's move at the request's level; the game must not be over."""
        self._engine.tables = find_tables(self._table_cache, request.position.rules, request.limit)
        self._engine.level = request.level
        return _play(self._engine, request)


class EnginePlayer:
    """An engine in another process, which is started again after an `EngineError`."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._engine: Engine | None = None
        self._level: Level | None = None
        with self._running() as engine:
            self.name = engine.name

    @contextmanager
    def _running(self) -> Iterator[Engine]:
        """Yield the running engine, started if necessary; close it after an `EngineError`."""
        try:
            if self._engine is None:
                self._engine = Engine.popen(self._spec)
                self._engine.ping()
                self._level = None
            yield self._engine
        except EngineError:
            self.close()
            raise

    def new_game(self) -> None:
        """Send ``ucinewgame``, and wait until the engine is ready."""
        with self._running() as engine:
            engine.new_game()

    def choose(self, request: Request) -> PlayResult:
        """Return the engine's move at the request's level; the game must not be over.

        `InputError` if the engine cannot be set to the level.
        """
        with self._running() as engine:
            self._set_level(engine, request.level)
            return _play(engine, request)

    def _set_level(self, engine: Engine, level: Level | None) -> None:
        """Set the engine's level; `InputError` if the engine has no option for it or refuses it."""
        if level == self._level:
            return
        if level is not None and "UCI_LimitStrength" not in engine.options:
            raise InputError(
                "level", "expected none for this engine: it has no option UCI_LimitStrength"
            )
        settings: dict[str, Value] = {"UCI_LimitStrength": level is not None}
        if level is None:  # Restore the options with which the engine was started.
            at_start = {name.lower(): value for name, value in self._spec.options}
            for name in (*LEVEL_OPTIONS, "LevelSeed"):
                option = engine.options.get(name)
                if option is not None and (value := at_start.get(name.lower(), option.default)):
                    settings[name] = value
        else:
            settings["UCI_Elo"] = level.elo
            if "LevelSeed" in engine.options:
                settings["LevelSeed"] = level.seed
        try:
            engine.configure(settings)
        except InputError as error:  # Nothing was sent, so the engine can go on.
            raise InputError("level", f"expected none for this engine: {error}") from None
        self._level = level

    def close(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def _play(engine: AnyEngine, request: Request) -> PlayResult:
    return engine.play(
        request.start, request.limit, moves=request.moves, root_moves=request.only
    )
