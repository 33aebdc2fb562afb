"""Every engine tried once before the first game, so that what is wrong shows then.

Each is started, greeted, sent its options and the rules, asked whether it is ready, and asked for
one move. The engines take each step side by side, and end when all have taken all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from merels.engine.common.errors import InputError, quoted
from merels.engine.game.notation import START
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, PRESETS, Rules, parse_rules
from merels.engine.search.limits import Limit
from merels.protocol.client.connection import Connection
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import LEVEL_OPTIONS, MERELS, OPTION
from merels.protocol.common.options import Options
from merels.protocol.process.command import find_executable
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.engine_cache import KEPT, greet, prepare
from merels.tournament.play.game import Start, describe, first_line, judge, start_of
from merels.tournament.records.games import NANOSECONDS, Entrant, Opening, TimeControl

CLOCK, INCREMENT, NODES = 0.1, 0.01, 100
"""The most that the trial's limits allow: seconds on the clocks, for a move, and positions."""
THINKING = 0.3
"""Seconds after which an engine that still searches is sent ``stop``."""
SILENT = "; an engine must flush every line that it writes"
"""Where to look first if it writes nothing at all."""
COMPLAINT = b"info string error"
"""Words with which engines reject a line."""


def preflight(
    entrants: Sequence[Entrant], knowing: Collection[str], rules: str, opening: Opening,
    at_once: int = KEPT,
) -> list[str]:
    """Raise an `InputError` with the fault of the first engine that cannot play.

    ``knowing`` are the names of engines that play by rules for which they have no option.
    ``at_once`` engines may run at the same time. Return notices on the engines that can play.
    """
    distinct: dict[tuple[Entrant, bool], Entrant] = {}
    for entrant in entrants:
        distinct.setdefault((_kind(entrant), entrant.name in knowing), entrant)
    waiting = list(distinct.values())
    start = start_of(opening, parse_rules(rules))
    notices = []
    for first in range(0, len(waiting), at_once):
        trials = [
            _Trial(entrant, start, entrant.name in knowing)
            for entrant in waiting[first : first + at_once]
        ]
        _try_all(trials)
        notices += [trial.notice for trial in trials if trial.notice]
    return notices


def check_program(entrant: Entrant) -> None:
    """Raise the `InputError` of a trial in which an engine's program is not found."""
    try:
        find_executable(entrant.engine.command, entrant.engine.directory)
    except EngineError as error:
        raise InputError(f"-engine {entrant.name}", f"does not start: {error}") from None


def options_of(entrant: Entrant) -> Options:
    """Return the options that an engine declares; raise `InputError` if it does not start."""
    trial = _Trial(entrant, start_of(Opening(START), DEFAULT_RULES), False)
    try:
        for step in STEPS[:2]:
            trial.take(step)
        return trial.engine.options
    finally:
        _end([trial])


def announced_names(entrants: Sequence[Entrant]) -> list[str]:
    """The names that engines announce, empty for none; `InputError` where one does not start."""
    start = start_of(Opening(START), DEFAULT_RULES)
    names = []
    for first in range(0, len(entrants), KEPT):
        trials = [_Trial(entrant, start, False) for entrant in entrants[first : first + KEPT]]
        _try_all(trials, STEPS[:2])
        names += [trial.engine.name for trial in trials]
    return names


def _kind(entrant: Entrant) -> Entrant:
    """Equal for engines that differ only in the name, or in their level of merels."""
    engine = replace(entrant.engine, name="")
    if engine.command == MERELS:
        others = tuple(option for option in engine.options if option[0] not in LEVEL_OPTIONS)
        engine = replace(engine, options=others)
    return replace(entrant, engine=engine)


def _try_all(trials: Sequence[_Trial], steps: Sequence[Step] | None = None) -> None:
    """Take engines through some or all steps, side by side, and end them."""
    try:
        for step in STEPS if steps is None else steps:
            for trial in trials:
                trial.take(step)
    finally:
        _end(trials)


def _end(trials: Sequence[_Trial]) -> None:
    """End the engines that were started."""
    running = [trial.engine for trial in trials if trial.started]
    for engine in running:
        engine.connection.send_quit()
    for engine in running:
        engine.close()


class _Trial:
    """One engine on its way through the steps."""

    def __init__(self, entrant: Entrant, start: Start, knows_rules: bool) -> None:
        self.engine: Engine
        self._connection: Connection
        self.started = False
        self._entrant = entrant
        self._start = start
        self._knows_rules = knows_rules
        self._complaint = ""
        """The last fault that the engine reported."""
        self._wrote = b""
        """The last line that it wrote in this step."""
        self.notice = ""
        """A notice for the user, although the engine can play."""
        self._asked = 0

    def take(self, step: Step) -> None:
        """Take a step; `InputError` if the engine does not."""
        action, failure, way_out = step
        self._wrote = b""
        try:
            action(self)
        except EngineError as error:
            # The error of one that is late has its last output, of one that has gone its errors.
            said = hint = ""
            if isinstance(error, EngineTimeout):
                is_silent = action is _Trial.greet and not self._connection.last_output()
                hint = (SILENT if is_silent else "") + way_out
            elif self._wrote and not self._connection.last_error():
                said = f" (it wrote {quoted(self._wrote)})"
            raise self._wrong(f"{failure}: {describe(error)}{said}{hint}") from None

    def _wrong(self, what: str, key: str = "") -> InputError:
        """Return the error for a fault of the engine, or of one of its keys."""
        return InputError(f"-engine {self._entrant.name} {key}".strip(), what)

    def _hear(self, way: str, data: bytes) -> None:
        if way == "<":
            self._wrote = data.strip().rpartition(b"\n")[2] or self._wrote
            if COMPLAINT in data:
                line = data[data.rindex(COMPLAINT) :].partition(b"\n")[0]
                self._complaint = line.decode("utf-8", "replace").strip()

    # The steps.

    def start(self) -> None:
        """Start the process."""
        self.engine = Engine(self._entrant.engine, trace=self._hear)
        self._connection = self.engine.connection
        self.started = True

    def greet(self) -> None:
        """Wait for the greeting and set the options."""
        try:
            greet(self.engine, self._entrant)
        except (EngineTerminated, EngineTimeout):
            raise
        except EngineError as error:
            for name, value in self._entrant.engine.options:
                try:
                    self.engine.options.find(name).check(value)
                except InputError as refusal:
                    raise self._wrong(refusal.expected, f"{OPTION}{name}={value}") from None
            raise self._wrong(str(error)) from None
        if self._entrant.engine.options and not self.engine.options:
            names = ", ".join(OPTION + name for name, _ in self._entrant.engine.options)
            self.notice = f"{self._entrant.name} declares no options; it may ignore {names}"

    def set_up(self) -> None:
        """Set the rules and start a game."""
        fields = [] if self._knows_rules else _untold(self._start.position.rules, self.engine)
        if fields:
            raise self._wrong(
                f"has no option for {', '.join(fields)}; "
                "add rules=known if it already plays by these rules"
            )
        prepare(self.engine, self._start.position.rules)

    def be_ready(self) -> None:
        """Wait until it is ready, and see that it took what it was told."""
        self._connection.await_ready()
        if self._complaint:
            raise self._wrong(f"does not take its options or the rules: {self._complaint}")

    def think(self) -> None:
        """Ask for a move, unless the opening has ended the game."""
        if self._start.position.outcome() is None and not self._connection.dialect.in_steps:
            line, go = self._question()
            self._asked = self._connection.begin(line + b"\n" + go)

    def move(self) -> None:
        """See that the answer is a legal move."""
        position, patience = self._start.position, self._entrant.ping_timeout
        if position.outcome() is not None:
            return
        if self._connection.dialect.in_steps:
            answer = self._connection.ask(position, *self._question(), int(patience * NANOSECONDS))
        else:
            answer = self._connection.wait_answer(self._asked, int(THINKING * NANOSECONDS))
            # It may be slow, or move only after `stop`.
            answer = answer or self._connection.stop(patience)
        said = self._complaint and f" ({self._complaint})"
        if answer is None:
            said = said or self._connection.last_output()
            raise self._wrong(f"plays no move in {patience:g} s, stopped or not{said}")
        if (objection := judge(position, answer)[1]) is not None:
            where = self._question()[0].decode()
            raise self._wrong(f"makes an illegal move: {objection}, after '{where}'{said}")

    def _question(self) -> tuple[bytes, bytes]:
        """The ``position`` and ``go`` lines."""
        dialect, start = self._connection.dialect, self._start
        limit = _least(self._entrant.limit)
        return first_line(start, dialect), dialect.go(limit, start.position.side)


Step = tuple[Callable[[_Trial], None], str, str]
"""An action, the text of its failure, and the place to look if it timed out."""
STEPS: tuple[Step, ...] = (
    (_Trial.start, "does not start", ""),
    (_Trial.greet, "does not start", "; see proto= and starttimeout="),
    (_Trial.set_up, "does not get ready", ""),
    (_Trial.be_ready, "does not get ready", "; see pingtimeout="),
    (_Trial.think, "plays no move", ""),
    (_Trial.move, "plays no move", ""),
)


def _untold(rules: Rules, engine: Engine) -> list[str]:
    """Rule fields without an option whose value the engine does not assume: ``Name=value``."""
    dialect, offered = engine.connection.dialect, engine.options
    told = {name.lower(): value for name, value in dialect.settings(rules, offered)}
    variant = offered.get("UCI_Variant")
    name = told.get("uci_variant", "" if variant is None else variant.default)
    assumed = PRESETS.get(name.lower(), DEFAULT_RULES)
    played = (assumed, dialect.own_rules or assumed)
    fields = []
    for field in FIELDS:
        value = getattr(rules, field.attribute)
        names = [name for name in dialect.rule_options(field.name) if name.lower() in told]
        try:
            for name in names:
                offered[name].check(told[name.lower()])
            missing = not names and all(value != getattr(own, field.attribute) for own in played)
            why = ""
        except InputError as error:
            missing, why = True, f" ({error.expected})"
        if missing:
            fields.append(f"{field.name}={value}{why}")
    return fields


def _least(control: TimeControl) -> Limit:
    """A limit of the kinds that the engine will have, each so small that it moves at once."""

    def seconds(time: int | None, most: float) -> float | None:
        return None if time is None else min(time / NANOSECONDS, most)

    clock, increment = seconds(control.time, CLOCK), seconds(control.increment or None, INCREMENT)
    return Limit(
        time=seconds(control.per_move, INCREMENT),
        depth=control.depth and 1,
        nodes=control.nodes and min(control.nodes, NODES),
        white_clock=clock,
        black_clock=clock,
        white_inc=increment,
        black_inc=increment,
        remaining_moves=control.moves,
    )
