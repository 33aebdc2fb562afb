"""A seat at the board: the engine in it, its level and options, and its process."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.rules import FIELDS, Rules
from merels.engine.search.levels import LEVELS, any_seed
from merels.protocol.board.events import Log
from merels.protocol.board.requests import FULL
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import LEVEL_OPTIONS, MERELS, EngineSpec
from merels.protocol.common.options import Value, value_text
from merels.protocol.process.errors import EngineError

QUIT_SECONDS = 0.5

MANAGED = frozenset(
    name.lower() for name in ("MultiPV", "Ponder", "UCI_Variant", *(f.name for f in FIELDS))
)
"""Options, in lower case, that the board sets itself."""
OWN = EngineSpec(MERELS, "merels")
"""The engine that comes with the board; it has the built-in levels."""


class Seat:
    """White's, Black's or the analyst's seat, with an engine process or a user.

    Code that starts, ends or talks to the engine holds ``in_use``. Any thread may stop a search or
    kill the engine without it.
    """

    def __init__(self, part: str, log: Log, on_line: Callable[[bytes], None]) -> None:
        self.part = part
        self.choice: EngineSpec | None = None
        self.level = ""
        self._seed = any_seed()
        self.version = 0
        """Increased by every change of engine, level or options."""
        self.in_use = RLock()
        self._engine: Engine | None = None
        self._starting: Engine | None = None
        self._ended = False
        self._running: EngineSpec | None = None
        self._log = log
        self._on_line = on_line
        self._wanted: dict[str, Value] = {}
        self._sent: dict[str, Value] = {}
        self._presses: list[str] = []
        self._another_game = False

    def seat(self, choice: EngineSpec | None, level: str = "") -> None:
        """Choose who sits here; `tidy` ends the engine that sat here before."""
        if choice is not self.choice:
            self._wanted, self._presses = {}, []
        elif choice is not None and choice is OWN and level != self.level:
            # A new level replaces what the dialog set for the old one.
            for name in (*LEVEL_OPTIONS, "LevelSeed"):
                self._wanted.pop(name, None)
        self.choice, self.level = choice, level
        self.version += 1

    @property
    def is_level(self) -> bool:
        """Whether a built-in level sits here."""
        return self.choice is OWN and self.level != FULL

    def new_game(self) -> None:
        """Send the engine `ucinewgame` before its next search.

        A level gets a new seed, so that the same moves do not beat it twice.
        """
        self._seed = any_seed()
        self._another_game = True
        self.version += 1

    def _settings(self) -> dict[str, Value]:
        """The options to set: from the command line, for the level, and from the dialog."""
        choice = self.choice
        if choice is None:
            return {}
        settings: dict[str, Value] = dict(choice.options)
        if choice is OWN:
            elo = next((level.elo for level in LEVELS if level.name == self.level), None)
            settings["UCI_LimitStrength"] = elo is not None
            if elo is not None:
                settings["UCI_Elo"] = elo
                settings["LevelSeed"] = self._seed
        elif choice.command == MERELS:  # It may have been given a level.
            settings.setdefault("LevelSeed", self._seed)
        return settings | self._wanted

    def open(self) -> Engine:
        """The running engine, started if need be."""
        engine = self._engine
        if engine is not None and self._running is self.choice:
            return engine
        with self.in_use:
            self.tidy()
            if self._engine is None:
                choice = self.choice
                if choice is None:
                    raise EngineError("no engine plays this side; choose one under New game")
                self._engine = self._start(choice)
                self._running, self._sent = choice, {}
            return self._engine

    def _start(self, choice: EngineSpec) -> Engine:
        """Start an engine and wait for its greeting; `end` cuts the wait short."""
        engine = self._starting = Engine(choice, trace=self._trace)
        self._log.add(self.part, "!", f"started {choice.name} (pid {engine.pid})")
        try:
            if self._ended:
                engine.kill()
            engine.greet()
        except BaseException:
            engine.close(0.0)
            raise
        finally:
            self._starting = None
        return engine

    def prepare(self, engine: Engine, rules: Rules) -> None:
        """Send the engine its new options, rules and game; the caller holds ``in_use``."""
        changed = {
            name: value
            for name, value in self._settings().items()
            if self._sent.get(name) != value
        }
        if changed:
            engine.configure(changed)
            self._sent |= changed
        while self._presses:
            engine.configure({self._presses.pop(0): None})
        engine.set_rules(rules)
        if self._another_game:
            self._another_game = False
            engine.new_game()

    def options(self) -> list[dict[str, Any]]:
        """The engine's options with their values, for the dialog.

        The dialog does not offer options that take text: `wish` refuses them.
        """
        engine = self.open()
        values = {name.lower(): value for name, value in self._settings().items()}
        return [
            {
                "name": option.name,
                "kind": option.kind,
                "min": option.minimum,
                "max": option.maximum,
                "choices": option.choices,
                "value": value_text(values.get(option.name.lower(), option.default)),
                "managed": option.name.lower() in MANAGED,
            }
            for option in engine.options.values()
            if not option.takes_text
        ]

    def wish(self, settings: dict[str, Value]) -> None:
        """Set options from the dialog; an error names the one that is refused.

        An option that takes text may name a file, which the engine would read or write: only the
        command line sets it. The options are sent before the engine's next search.
        """
        options = self.open().options
        checked: dict[str, Value] = {}
        presses = []
        for name, value in settings.items():
            option = options.find(name)
            if option.takes_text:
                way = f"-engine … option.{option.name}=… where merels board is started"
                raise InputError(
                    option.name, f"only the command line sets an option that takes text: use {way}"
                )
            if option.name.lower() in MANAGED:
                raise EngineError(f"option {option.name} is set by the board itself")
            if option.kind == "button":
                presses.append(option.name)
            else:
                checked[option.name] = option.check(value)
        wanted = self._wanted | checked
        if presses or wanted != self._wanted:
            self._wanted = wanted
            self._presses += presses
            self.version += 1

    def tidy(self) -> None:
        """End the engine if it does not sit here any more."""
        if self._engine is not None and self._running is not self.choice:
            self.close()

    def end(self) -> None:
        """Refuse to start engines, and kill one that has not greeted yet. Thread-safe."""
        self._ended = True
        starting = self._starting
        if starting is not None:
            starting.kill()

    def close(self) -> None:
        """End the engine, if it runs."""
        with self.in_use:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.close(QUIT_SECONDS)
                self._log.add(self.part, "!", "ended")

    def _trace(self, direction: str, data: bytes) -> None:
        """Log lines, and pass on those that the engine wrote."""
        for line in data.split(b"\n")[:-1]:
            self._log.add(self.part, direction, line.decode("utf-8", "replace").rstrip())
            if direction == "<":
                self._on_line(line)
