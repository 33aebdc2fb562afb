"""Cache of the running engines of a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

from merels.engine.common.errors import InputError
from merels.engine.game.rules import Rules
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError
from merels.tournament.play.fingerprint import THIS_ORIGIN, fingerprint
from merels.tournament.play.lag import LagMeter
from merels.tournament.records.games import Entrant, Origin

MAX_IDLE_ENGINES = 16
"""Idle engines that a worker keeps; each takes memory, and three or four open files."""
FAULT_PATIENCE = 0.5
"""Time for an engine to exit after a fault, in seconds."""


class EngineCache:
    """Running engines that are lent to games; a context manager that ends them all.

    A cache belongs to one worker, which plays one game at a time. If more than ``max_idle`` engines
    are idle, the engine that has been idle for longest ends. ``trace`` is called with an engine's
    name, the direction ``>``, ``<`` or ``!`` (standard error), and the bytes sent or received.
    """

    def __init__(
        self, max_idle: int = MAX_IDLE_ENGINES, *,
        trace: Callable[[str, str, bytes], None] | None = None,
    ) -> None:  # fmt: skip
        self._max_idle = max_idle
        self._trace = trace
        self._idle: list[tuple[Entrant, Engine]] = []
        self._programs: WeakKeyDictionary[Engine, str] = WeakKeyDictionary()
        """Fingerprints of the engines' programs at their start."""
        self.meter = LagMeter()
        """Meter of the delays in these engines' moves."""

    def __enter__(self) -> EngineCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lend(self, entrants: Sequence[Entrant], rules: Rules) -> list[Engine | EngineError]:
        """Return an engine for each entrant, ready for a new game, or its error.

        The engines get ready concurrently. An idle engine that no longer answers is replaced.
        """
        idle = [self._take_idle(entrant) for entrant in entrants]
        lent = self._make_ready(entrants, idle, rules)
        for index, entrant in enumerate(entrants):
            if isinstance(lent[index], EngineError) and idle[index] is not None:
                (lent[index],) = self._make_ready([entrant], [None], rules)
        return lent

    def _make_ready(
        self, entrants: Sequence[Entrant], idle: Sequence[Engine | None], rules: Rules
    ) -> list[Engine | EngineError]:
        """Return engines ready for a new game; a new process replaces each None in ``idle``."""
        lent = [engine or self._start(entrant) for engine, entrant in zip(idle, entrants)]
        for index, entrant in enumerate(entrants):
            if idle[index] is None:
                for action in (greet, configure):
                    lent[index] = _attempt(lent[index], partial(action, entrant=entrant))
        lent = [_attempt(engine, partial(prepare, rules=rules)) for engine in lent]
        return [_attempt(engine, lambda engine: engine.connection.await_ready()) for engine in lent]

    def give_back(self, entrant: Entrant, engine: Engine) -> None:
        """Keep an engine after its game, or end it if its entrant has ``restart``."""
        if entrant.restart:
            engine.close()
            return
        self._idle.append((entrant, engine))
        if len(self._idle) > self._max_idle:
            self._idle.pop(0)[1].close()

    def measure_this_thread(self) -> None:
        """Measure the delays of the thread that calls this method, from now on."""
        self.meter.close()
        self.meter = LagMeter()

    def close(self) -> None:
        """End all idle engines concurrently."""
        self.meter.close()
        idle, self._idle = self._idle, []
        for _, engine in idle:
            engine.connection.send_quit()
        for _, engine in idle:
            engine.close()

    def _take_idle(self, entrant: Entrant) -> Engine | None:
        """Return the most recently used idle engine of an entrant with its options set, or None.

        The values of the options change in a tune.
        """
        for index in reversed(range(len(self._idle))):
            previous, engine = self._idle[index]
            if _differ_in_option_values_only(previous, entrant):
                del self._idle[index]
                current = previous.engine.options
                changed = [option for option in entrant.engine.options if option not in current]
                lent = _attempt(engine, lambda engine: engine.configure(dict(changed)))
                return lent if isinstance(lent, Engine) else None
        return None

    def _start(self, entrant: Entrant) -> Engine | EngineError:
        trace = self._trace and partial(self._trace, entrant.engine.name)
        program = fingerprint(entrant.engine)
        try:
            engine = Engine(entrant.engine, stderr=trace and partial(trace, "!"), trace=trace)
            engine.rules_known = True  # The preflight has checked the rules.
        except EngineError as error:
            return error
        self._programs[engine] = program
        return engine

    def origin(self, white: Engine, black: Engine) -> Origin:
        """Return the machine and programs of a game between two lent engines."""
        programs = self._programs[white], self._programs[black]
        return THIS_ORIGIN._replace(ids=(white.name, black.name), programs=programs)


def _differ_in_option_values_only(first: Entrant, second: Entrant) -> bool:
    """Return whether two entrants are equal except for the values of the same options."""
    if first.name != second.name:
        return False
    names = [[name for name, _ in entrant.engine.options] for entrant in (first, second)]
    engine = replace(first.engine, options=second.engine.options)
    return names[0] == names[1] and replace(first, engine=engine) == second


def _attempt(
    engine: Engine | EngineError, action: Callable[[Engine], None]
) -> Engine | EngineError:
    """Call ``action`` with an engine; return the engine, or its error after ending it."""
    if not isinstance(engine, Engine):
        return engine
    try:
        action(engine)
    except (EngineError, InputError) as error:
        engine.close(FAULT_PATIENCE)
        return error if isinstance(error, EngineError) else EngineError(str(error))
    return engine


def greet(engine: Engine, entrant: Entrant) -> None:
    """Wait for the greeting of a new engine."""
    engine.timeout = entrant.ping_timeout
    engine.greet(entrant.start_timeout)


def configure(engine: Engine, entrant: Entrant) -> None:
    """Set the options of a new engine."""
    engine.configure(dict(entrant.engine.options))
    if entrant.ponder:
        engine.connection.widen_output()
        if "Ponder" in engine.options:
            engine.configure({"Ponder": True})


def prepare(engine: Engine, rules: Rules) -> None:
    """Send an engine the rules and the start of a new game."""
    engine.set_rules(rules)
    engine.connection.send_new_game()
