"""The engines that a worker keeps running between games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

from merels.engine.game.rules import Rules
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError
from merels.tournament.play.fingerprint import HERE, fingerprint
from merels.tournament.play.lag import LagMeter
from merels.tournament.play.memory import MemoryWatch
from merels.tournament.records.games import Entrant, Origin

KEPT = 4
"""Engines without a game that are kept even if memory is short."""
MOST_KEPT = 100
"""Engines without a game that are kept at most: each takes three or four open files."""
FAULT_PATIENCE = 0.5
"""Seconds that an engine has to exit after a fault."""


class EngineCache:
    """Running engines, lent to games; a context manager that ends them all.

    One worker uses it, for one game at a time. Engines without a game are kept while a quarter of
    the memory is available. Otherwise each engine that is given back ends the one that played
    longest ago, unless ``kept`` or fewer are left. ``trace`` is called with an engine's name, with
    ``>``, ``<`` or ``!`` (standard error), and with the lines that were sent or received.
    """

    def __init__(
        self, kept: int = KEPT, *, trace: Callable[[str, str, bytes], None] | None = None,
        memory_is_short: Callable[[], bool] | None = None,
    ) -> None:
        self._kept = kept
        self._memory_is_short = memory_is_short or MemoryWatch()
        self._trace = trace
        self._idle: list[tuple[Entrant, Engine]] = []
        self._programs: WeakKeyDictionary[Engine, str] = WeakKeyDictionary()
        """The fingerprints of the engines' programs when they were started."""
        self.meter = LagMeter()
        """Measures the moves of these engines."""

    def __enter__(self) -> EngineCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lend(self, entrants: Sequence[Entrant], rules: Rules) -> list[Engine | EngineError]:
        """An engine for each entrant, ready for a new game, or the error that it fails with.

        They get ready side by side. An engine that was kept and no longer answers is replaced by a
        fresh one.
        """
        kept = [self._take(entrant) for entrant in entrants]
        lent = self._make_ready(entrants, kept, rules)
        for index, entrant in enumerate(entrants):
            if isinstance(lent[index], EngineError) and kept[index] is not None:
                (lent[index],) = self._make_ready([entrant], [None], rules)
        return lent

    def _make_ready(
        self, entrants: Sequence[Entrant], kept: Sequence[Engine | None], rules: Rules
    ) -> list[Engine | EngineError]:
        """The engines that were kept, and fresh ones in place of None, ready for a new game."""
        lent = [engine or self._start(entrant) for engine, entrant in zip(kept, entrants)]
        for index, entrant in enumerate(entrants):
            if kept[index] is None:
                lent[index] = self._attempt(lent[index], partial(greet, entrant=entrant))
        lent = [self._attempt(engine, partial(prepare, rules=rules)) for engine in lent]
        return [self._attempt(engine, _await_ready) for engine in lent]

    def give_back(self, entrant: Entrant, engine: Engine) -> None:
        """Keep an engine after its game, unless it is to be started for every game."""
        if entrant.restart or not self._kept:
            engine.close()
            return
        self._idle.append((entrant, engine))
        count = len(self._idle)
        if count > MOST_KEPT or count > self._kept and self._memory_is_short():
            self._idle.pop(0)[1].close()

    def measure_here(self) -> None:
        """Measure the moves that the current thread asks for, instead of those of another one."""
        self.meter.close()
        self.meter = LagMeter()

    def close(self) -> None:
        """End all engines that are not lent, side by side."""
        self.meter.close()
        idle, self._idle = self._idle, []
        for _, engine in idle:
            engine.connection.send_quit()
        for _, engine in idle:
            engine.close()

    def _take(self, entrant: Entrant) -> Engine | None:
        """The entrant's engine that was given back last, if there is one that still answers.

        In a tune it may have been given back with other values of the same options.
        """
        for index in reversed(range(len(self._idle))):
            former, engine = self._idle[index]
            if former.name != entrant.name:
                continue
            if former == entrant:
                del self._idle[index]
                return engine
            if _has_options_of(former, entrant):
                del self._idle[index]
                known = former.engine.options
                new = [option for option in entrant.engine.options if option not in known]
                lent = self._attempt(engine, lambda engine: engine.configure(dict(new)))
                return lent if isinstance(lent, Engine) else None
        return None

    def _start(self, entrant: Entrant) -> Engine | EngineError:
        trace = self._trace and partial(self._trace, entrant.engine.name)
        program = fingerprint(entrant.engine)
        try:
            engine = Engine(entrant.engine, stderr=trace and partial(trace, "!"), trace=trace)
        except EngineError as error:
            return error
        self._programs[engine] = program
        return engine

    def origin(self, white: Engine, black: Engine) -> Origin:
        """Where and by which programs a game of two lent engines is played."""
        programs = self._programs[white], self._programs[black]
        return HERE._replace(ids=(white.name, black.name), programs=programs)

    def _attempt(
        self, engine: Engine | EngineError, action: Callable[[Engine], None]
    ) -> Engine | EngineError:
        """The engine after an action, or, once it is ended, the error that the action raised."""
        if not isinstance(engine, Engine):
            return engine
        try:
            action(engine)
        except EngineError as error:
            engine.close(FAULT_PATIENCE)
            return error
        return engine


def _has_options_of(one: Entrant, other: Entrant) -> bool:
    """Whether two entrants differ only in the values of the options that both set."""
    names = [[name for name, _ in entrant.engine.options] for entrant in (one, other)]
    engine = replace(one.engine, options=other.engine.options)
    return names[0] == names[1] and replace(one, engine=engine) == other


def _await_ready(engine: Engine) -> None:
    """Wait until an engine is ready."""
    engine.connection.await_ready()


def greet(engine: Engine, entrant: Entrant) -> None:
    """Wait for a fresh engine's greeting and set its options."""
    engine.timeout = entrant.ping_timeout
    engine.greet(entrant.start_timeout)
    engine.configure(dict(entrant.engine.options))
    if entrant.ponder:
        engine.connection.widen_output()
        if "Ponder" in engine.options:
            engine.configure({"Ponder": True})


def prepare(engine: Engine, rules: Rules) -> None:
    """Tell an engine the rules and that a new game begins."""
    engine.set_rules(rules)
    engine.connection.send_new_game()
