"""A seat at the board: the choice of its engine, the engine's settings, and its process."""

from __future__ import annotations

from merels.engine.game.rules import Rules
from merels.engine.search.levels import LEVELS, any_seed
from merels.protocol.board.requests import FULL
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import MERELS, EngineSpec
from merels.protocol.common.options import Value
from merels.protocol.process.errors import EngineError
from merels.protocol.process.pipe import Trace

QUIT_SECONDS = 0.5
"""Grace period for an engine to exit after `quit`, in seconds."""

OWN_ENGINE = EngineSpec(MERELS, "merels")
"""This program as an engine; only it has the built-in levels."""


class Seat:
    """White's, Black's or the analyst's seat, with an engine process or a user.

    Only the search thread starts, commands and ends the engine; any thread may call `abort_start`.
    """

    def __init__(self, role: str, trace: Trace) -> None:
        """Create an empty seat. ``role`` is White, Black or Analysis; ``trace`` gets all lines."""
        self.role = role
        self.trace = trace
        self.choice: EngineSpec | None = None
        self.level = ""
        self._seed = any_seed()
        self.version = 0
        """Counts changes of engine, level and game."""
        self._engine: Engine | None = None
        self._starting: Engine | None = None
        self._aborted = False
        self._started_choice: EngineSpec | None = None
        """The assigned engine when the process was started."""
        self._sent_settings: dict[str, Value] = {}
        self._new_game_pending = False

    def assign(self, choice: EngineSpec | None, level: str = "") -> None:
        """Assign an engine, or a user with None; `end_replaced` ends the previous engine."""
        self.choice, self.level = choice, level
        self.version += 1

    @property
    def is_level(self) -> bool:
        """Whether a built-in level plays here."""
        return self.choice is OWN_ENGINE and self.level != FULL

    def new_game(self) -> None:
        """Send the engine `ucinewgame` before its next search.

        A level gets a new seed, so that the same moves do not beat it twice.
        """
        self._seed = any_seed()
        self._new_game_pending = True
        self.version += 1

    def _settings(self) -> dict[str, Value]:
        """Return the option values of the command line, replaced by the level's."""
        choice = self.choice
        if choice is None:
            return {}
        settings: dict[str, Value] = dict(choice.options)
        if choice is OWN_ENGINE:
            elo = next((level.elo for level in LEVELS if level.name == self.level), None)
            settings["UCI_LimitStrength"] = elo is not None
            if elo is not None:
                settings["UCI_Elo"] = elo
                settings["LevelSeed"] = self._seed
        elif choice.command == MERELS:  # The command line may set a level.
            settings.setdefault("LevelSeed", self._seed)
        return settings

    def open(self) -> Engine:
        """Return the running engine; start it if needed.

        Raise `EngineError` if a user plays here, or if the start fails.
        """
        self.end_replaced()
        if self._engine is None:
            choice = self.choice
            if choice is None:
                raise EngineError("no engine plays here; choose one under New game")
            engine = self._start(choice)
            self._started_choice, self._sent_settings, self._engine = choice, {}, engine
        return self._engine

    def _start(self, choice: EngineSpec) -> Engine:
        """Start an engine and wait for its handshake, which `abort_start` interrupts."""
        engine = self._starting = Engine(choice, trace=self.trace)
        try:
            if self._aborted:
                engine.kill()
            engine.greet()
        except BaseException:
            engine.close(0.0)
            raise
        finally:
            self._starting = None
        return engine

    def prepare(self, engine: Engine, rules: Rules) -> None:
        """Send the engine changed options, the rules and `ucinewgame` if due."""
        changed = {
            name: value
            for name, value in self._settings().items()
            if self._sent_settings.get(name) != value
        }
        if changed:
            engine.configure(changed)
            self._sent_settings |= changed
        engine.set_rules(rules)
        if self._new_game_pending:
            self._new_game_pending = False
            engine.new_game()

    def end_replaced(self) -> None:
        """End the engine if it is no longer the assigned one."""
        if self._engine is not None and self._started_choice is not self.choice:
            self.close()

    def abort_start(self) -> None:
        """Kill an engine that is being started, and any that is started later. Thread-safe."""
        self._aborted = True
        starting = self._starting
        if starting is not None:
            starting.kill()

    def close(self) -> None:
        """End the engine process, if there is one."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close(QUIT_SECONDS)
