"""The engines that a worker keeps running between games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from merels.engine.game.rules import Rules
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError
from merels.tournament.records.games import Entrant

KEPT = 4
"""Engines kept while they have no game: their tables take memory."""
FAULT_PATIENCE = 0.5
"""Seconds that an engine gets to end by itself after a fault."""

Trace = Callable[[str, str, bytes], None]
"""Called with the engine's name, ``>`` or ``<``, and what was sent or received."""


class EngineCache:
    """Running engines, lent to games; a context manager that ends them all.

    One worker uses it, with one game at a time. ``stderr`` is a file that what engines write to
    standard error is appended to.
    """

    def __init__(
        self, kept: int = KEPT, *, stderr: str | None = None, trace: Trace | None = None
    ) -> None:
        self._kept = kept
        self._stderr = stderr
        self._trace = trace
        self._idle: list[tuple[Entrant, Engine]] = []

    def __enter__(self) -> EngineCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lend(self, specs: Sequence[Entrant], rules: Rules) -> list[Engine | EngineError]:
        """An engine for each spec, ready for a new game, or the error that it starts with.

        They get ready side by side. An engine that was kept and does not answer any more is
        replaced by a fresh one without a word.
        """
        kept = [self._take(spec) for spec in specs]
        fresh = [engine is None for engine in kept]
        lent = [engine or self._start(spec) for engine, spec in zip(kept, specs)]
        for index, spec in enumerate(specs):
            if fresh[index]:
                lent[index] = self._attempt(lent[index], partial(greet, spec=spec))
        lent = [self._attempt(engine, partial(prepare, rules=rules)) for engine in lent]
        lent = [self._attempt(engine, await_ready) for engine in lent]
        for index, spec in enumerate(specs):
            if isinstance(lent[index], EngineError) and not fresh[index]:
                again = partial(start_over, spec=spec, rules=rules)
                lent[index] = self._attempt(self._start(spec), again)
        return lent

    def give_back(self, spec: Entrant, engine: Engine) -> None:
        """Keep an engine that did its part, unless it is to be started for every game."""
        if spec.restart or not self._kept:
            engine.close()
            return
        self._idle.append((spec, engine))
        if len(self._idle) > self._kept:
            self._idle.pop(0)[1].close()

    def discard(self, engine: Engine) -> None:
        """End an engine that is at fault."""
        engine.close(FAULT_PATIENCE)

    def close(self) -> None:
        """End all engines that are not lent, side by side."""
        engines = [engine for _, engine in self._idle]
        self._idle.clear()
        for engine in engines:
            engine.send_quit()
        for engine in engines:
            engine.close()

    def _take(self, spec: Entrant) -> Engine | None:
        """The engine of that spec that was given back last, if there is one."""
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index][0] == spec:
                return self._idle.pop(index)[1]
        return None

    def _start(self, spec: Entrant) -> Engine | EngineError:
        trace = self._trace and partial(self._trace, spec.engine.name)
        try:
            return Engine(spec.engine, stderr=self._stderr, trace=trace)
        except EngineError as error:
            return error

    def _attempt(
        self, engine: Engine | EngineError, action: Callable[[Engine], None]
    ) -> Engine | EngineError:
        """The engine after an action, or, after it is ended, the error that the action raised."""
        if not isinstance(engine, Engine):
            return engine
        try:
            action(engine)
        except EngineError as error:
            self.discard(engine)
            return error
        return engine


def greet(engine: Engine, spec: Entrant) -> None:
    """Wait for a fresh engine's greeting and set its options."""
    engine.timeout = spec.ping_timeout
    engine.greet(spec.start_timeout)
    engine.configure(dict(spec.engine.options))
    if spec.ponder:
        engine.widen_output()
        if "Ponder" in engine.options:
            engine.configure({"Ponder": True})


def prepare(engine: Engine, rules: Rules) -> None:
    """Tell an engine the rules and that a new game begins."""
    engine.set_rules(rules)
    engine.send_new_game()


def await_ready(engine: Engine) -> None:
    """Wait until the engine is ready."""
    engine.await_ready()


def start_over(engine: Engine, spec: Entrant, rules: Rules) -> None:
    """Everything that a fresh engine needs before its first game."""
    greet(engine, spec)
    prepare(engine, rules)
    await_ready(engine)
