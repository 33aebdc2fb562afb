"""Trial of every engine before the first game, which reports faults early.

Each engine is started, greeted, sent its options and the rules, asked whether it is ready, and
asked for one move. Then it is ended. Several engines take each step one after another: all are sent
a request before the first answer is awaited, so that they work concurrently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from merels.engine.common.errors import InputError, quoted
from merels.engine.game.notation import START
from merels.engine.game.rules import DEFAULT_RULES, parse_rules
from merels.engine.search.limits import Limit
from merels.protocol.client.connection import Connection
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import LEVEL_OPTIONS, MERELS, OPTION
from merels.protocol.process.command import find_executable
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.tournament.play.engine_cache import configure, greet, prepare
from merels.tournament.play.game import Start, describe, first_line, judge, start_of
from merels.tournament.records.games import SECOND, Entrant, Opening, TimeControl

TRIAL_CLOCK = 0.1
"""Longest time on the clock in a trial, in seconds."""
TRIAL_INCREMENT = 0.01
"""Longest increment, or time per move, in a trial, in seconds."""
TRIAL_NODES = 100
"""Largest number of nodes in a trial."""
SEARCH_SECONDS = 0.3
"""Time after which a search is stopped, in seconds."""
SILENT_HINT = "; an engine must flush every line that it writes"
"""Advice if an engine writes nothing."""
ERROR_PREFIX = b"info string error"
"""Start of the line with which engines reject input."""
AT_ONCE = 4
"""Number of engines that `preflight` tries at the same time, by default."""


class PreflightResult(NamedTuple):
    """Result of a preflight in which all engines passed."""

    names: list[str]
    """Name that each engine announces, or '', in the order of the entrants."""
    notices: list[str]
    """Notices for the user."""


def preflight(
    entrants: Sequence[Entrant], rules: str, opening: Opening, at_once: int = AT_ONCE,
    first_trial: Trial | None = None,
) -> PreflightResult:
    """Try the engines; raise InputError with the fault of an engine that cannot play.

    Of engines with the same `_kind`, only the first is tried. ``at_once``: number of engines that
    may run at the same time. ``first_trial``: the trial of the first engine, from `begin_trial`.
    """
    start = start_of(opening, parse_rules(rules))
    # The comparison of `EngineSpec` ignores `rules_known`, but the trial depends on it.
    kinds = [(_kind(entrant), entrant.engine.rules_known) for entrant in entrants]
    trials: dict[tuple[Entrant, bool], Trial] = {}
    if first_trial is not None:
        first_trial.prepare(entrants[0], start)
        trials[kinds[0]] = first_trial
    for kind, entrant in zip(kinds, entrants):
        trials.setdefault(kind, Trial(entrant, start))
    all_trials = list(trials.values())
    for first in range(0, len(all_trials), at_once):
        _try_all(all_trials[first : first + at_once])
    names = [trials[kind].engine.name for kind in kinds]
    return PreflightResult(names, [trial.notice for trial in all_trials if trial.notice])


def check_program(entrant: Entrant) -> None:
    """Raise InputError if an engine's program is not found."""
    try:
        find_executable(entrant.engine.command, entrant.engine.directory)
    except EngineError as error:
        raise InputError(f"-engine {entrant.name}", f"does not start: {error}") from None


def begin_trial(entrant: Entrant) -> Trial:
    """Start an engine and read its greeting; InputError if that fails.

    The caller ends the trial, which `preflight` may complete before.
    """
    trial = Trial(entrant, start_of(Opening(START), DEFAULT_RULES))
    try:
        for step in GREETING:
            trial.take(step)
    except BaseException:
        trial.end()
        raise
    return trial


def _kind(entrant: Entrant) -> Entrant:
    """Return a key that is equal for engines that differ only in their name.

    Levels of merels that differ only in name and strength have the same key, too.
    """
    engine = replace(entrant.engine, name="")
    if engine.command == MERELS:
        options = tuple(option for option in engine.options if option[0] not in LEVEL_OPTIONS)
        engine = replace(engine, options=options)
    return replace(entrant, engine=engine)


def _try_all(trials: Sequence[Trial]) -> None:
    """Take the engines through all steps that they have not taken yet, and end them."""
    try:
        for step in STEPS:
            for trial in trials:
                if step not in trial.taken:
                    trial.take(step)
    finally:
        for trial in trials:
            if trial.is_running:
                trial.engine.connection.send_quit()
        for trial in trials:
            trial.end()


class Trial:
    """Trial of one engine; a context manager that ends it."""

    def __init__(self, entrant: Entrant, start: Start) -> None:
        self.engine: Engine
        self._connection: Connection
        self.is_running = False
        self.taken: list[Step] = []
        self._entrant = entrant
        self._start = start
        self._reported = ""
        """Last error that the engine reported."""
        self._last_line = b""
        """Last line that the engine wrote in this step."""
        self.notice = ""
        """Notice to the user on an engine that can play."""
        self._search_start = 0
        """Time of sending ``go``, in nanoseconds, as `Connection.begin` returns it."""

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the engine, if it is running."""
        if self.is_running:
            self.is_running = False
            self.engine.close()

    def prepare(self, entrant: Entrant, start: Start) -> None:
        """Take later steps as ``entrant``, which has the same program, from another position."""
        self._entrant, self._start = entrant, start

    def take(self, step: Step) -> None:
        """Take a step; InputError if the engine fails it."""
        self.taken.append(step)
        action, failure, timeout_hint = step
        self._last_line = b""
        try:
            action(self)
        except EngineError as error:
            # The error of a timeout includes the last output, and that of a crash the last stderr.
            details = hint = ""
            if isinstance(error, EngineTimeout):
                is_silent = action is Trial.greet and not self._connection.last_output()
                hint = (SILENT_HINT if is_silent else "") + timeout_hint
            elif self._last_line and not self._connection.last_error():
                details = f" (it wrote {quoted(self._last_line)})"
            raise self._fault(f"{failure}: {describe(error)}{details}{hint}") from None

    def _fault(self, what: str, key: str = "") -> InputError:
        """Return the error for a fault of the engine, or of its ``key``."""
        return InputError(f"-engine {self._entrant.name} {key}".strip(), what)

    def _trace(self, direction: str, data: bytes) -> None:
        if direction == "<":
            self._last_line = data.strip().rpartition(b"\n")[2] or self._last_line
            if ERROR_PREFIX in data:
                line = data[data.rindex(ERROR_PREFIX) :].partition(b"\n")[0]
                self._reported = line.decode("utf-8", "replace").strip()

    # Steps of the trial.

    def start(self) -> None:
        self.engine = Engine(self._entrant.engine, trace=self._trace)
        self.engine.rules_known = True  # `set_up` checks the rules.
        self._connection = self.engine.connection
        self.is_running = True

    def greet(self) -> None:
        """Wait for the greeting."""
        greet(self.engine, self._entrant)

    def configure(self) -> None:
        """Set the options."""
        try:
            configure(self.engine, self._entrant)
        except (EngineTerminated, EngineTimeout):
            raise
        except (EngineError, InputError) as error:
            for name, value in self._entrant.engine.options:
                try:
                    self.engine.options.find(name).check(value)
                except InputError as refusal:
                    raise self._fault(refusal.expected, f"{OPTION}{name}={value}") from None
            raise self._fault(str(error)) from None
        if self._entrant.engine.options and not self.engine.options:
            names = ", ".join(OPTION + name for name, _ in self._entrant.engine.options)
            self.notice = f"{self._entrant.name} declares no options; it may ignore {names}"

    def set_up(self) -> None:
        """Set the rules and start a game."""
        rules = self._start.position.rules
        dialect, declared = self._connection.dialect, self.engine.options
        is_known = self._entrant.engine.rules_known
        fields = [] if is_known else dialect.missing_rules(rules, declared)
        if fields:
            raise self._fault(
                f"has no option for {', '.join(fields)}; "
                "add rules=known if it already plays by these rules"
            )
        prepare(self.engine, rules)

    def be_ready(self) -> None:
        """Wait until the engine is ready; check that it reported no error."""
        self._connection.await_ready()
        if self._reported:
            raise self._fault(f"rejects its options or the rules: {self._reported}")

    def think(self) -> None:
        """Ask for a move, unless the opening ends the game or moves are asked for step by step."""
        if self._start.position.outcome() is None and not self._connection.dialect.in_steps:
            line, go = self._request()
            self._search_start = self._connection.begin(line + b"\n" + go)

    def check_move(self) -> None:
        """Wait for the move and check that it is legal."""
        position, patience = self._start.position, self._entrant.ping_timeout
        if position.outcome() is not None:
            return
        if self._connection.dialect.in_steps:
            answer = self._connection.ask(position, *self._request(), int(patience * SECOND))
        else:
            answer = self._connection.wait_answer(
                self._search_start, int(SEARCH_SECONDS * SECOND)
            )
            # A slow engine, or one that moves only after `stop`, can play too.
            answer = answer or self._connection.stop(patience)
        details = self._reported and f" ({self._reported})"
        if answer is None:
            details = details or self._connection.last_output()
            in_steps = self._connection.dialect.in_steps
            when = f"in {patience:g} s" if in_steps else f"within {patience:g} s after stop"
            raise self._fault(f"plays no move {when}{details}")
        if (objection := judge(position, answer)[1]) is not None:
            self._connection.check_whole()
            where = self._request()[0].decode()
            raise self._fault(f"makes an illegal move: {objection}, after '{where}'{details}")

    def _request(self) -> tuple[bytes, bytes]:
        """Return the ``position`` and ``go`` lines."""
        dialect, start = self._connection.dialect, self._start
        limit = _trial_limit(self._entrant.limit)
        return first_line(start, dialect), dialect.go(limit, start.position.side)


Step = tuple[Callable[[Trial], None], str, str]
"""Action, text of its failure, and hint after a timeout."""
GREETING: tuple[Step, ...] = (
    (Trial.start, "does not start", ""),
    (Trial.greet, "does not start", "; see proto= and starttimeout="),
)
STEPS: tuple[Step, ...] = (
    *GREETING,
    (Trial.configure, "does not start", ""),
    (Trial.set_up, "does not get ready", ""),
    (Trial.be_ready, "does not get ready", "; see pingtimeout="),
    (Trial.think, "plays no move", ""),
    (Trial.check_move, "plays no move", ""),
)


def _trial_limit(control: TimeControl) -> Limit:
    """Return limits of the same kinds as ``control``, small enough for an immediate move."""

    def seconds(time: int | None, limit: float) -> float | None:
        return None if time is None else min(time / SECOND, limit)

    clock = seconds(control.time, TRIAL_CLOCK)
    increment = seconds(control.increment or None, TRIAL_INCREMENT)
    return Limit(
        time=seconds(control.per_move, TRIAL_INCREMENT),
        depth=control.depth and 1,
        nodes=control.nodes and min(control.nodes, TRIAL_NODES),
        white_clock=clock,
        black_clock=clock,
        white_inc=increment,
        black_inc=increment,
        remaining_moves=control.moves,
    )
