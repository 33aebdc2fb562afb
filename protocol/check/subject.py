"""The engine under check: brought into the state that a step needs, and asked to search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic_ns

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, PRESETS, Rules, make_rules
from merels.protocol.check.conversation import LATE, Conversation, Fault, Pace, Skip
from merels.protocol.check.transcript import Line, Search
from merels.protocol.client.dialects import UciAdapter, UgiAdapter, dialect
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import Option, Options, parse_option, setoption
from merels.protocol.process.errors import EngineError

LAST_SECONDS = 5.0
"""Seconds in which a process has to exit; more than `LATE` is a warning."""
_VARIANT = "uci_variant"
_FIELD_NAMES = frozenset(rule.name.lower() for rule in FIELDS)
_UGI_WORDS = dict(zip(UciAdapter.clock_words, UgiAdapter.clock_words))


@dataclass(slots=True)
class Greeting:
    """The answer to the handshake."""

    lines: list[Line] = field(default_factory=list)
    seconds: float = 0.0
    option_lines: list[tuple[Line, Option | None]] = field(default_factory=list)
    """The lines that declare options, each with its option, or None if it cannot be read."""
    options: Options = field(default_factory=Options)


class Subject(Conversation):
    """The engine, started when a step needs it and kept for the next step while it is well."""

    def __init__(self, candidate: EngineSpec, pace: Pace, rules: Rules = DEFAULT_RULES) -> None:
        """``rules`` apply as far as the engine's options do not name them."""
        super().__init__(candidate, pace)
        self.dialect = dialect(candidate.protocol)
        self.rules = self._default_rules = rules
        self.greeting = Greeting()
        self.searches: list[Search] = []
        self.exits: list[tuple[str, str]] = []
        """The occasion on which each process ended, and how unless with exit code 0."""
        self.start_failures = 0
        """How many starts in a row have failed."""
        self.failure: Fault | EngineError | None = None
        """A failed start that the next step reports instead of starting again."""
        self.surveyed: bool | None = None
        """Whether the searches that many steps judge were made; None before the first try."""
        self.changed = False
        """Whether a step has left the process in a state unfit for other steps."""
        self.preparing = 0.0
        """Seconds that the last readyok took for which `Pace.ready` allows."""
        self._greeted = False
        self._prepared = False

    # The process.

    def greet(self) -> Greeting:
        """Shake hands with a process, which may have been greeted before."""
        started = monotonic_ns()
        hello = self.dialect.hello.decode().strip()
        self.send(hello)
        lines = self.until(self.dialect.ready.decode(), self.pace.start, hello)
        declared = [(line, parse_option(line.text)) for line in lines if line.first == "option"]
        options = Options(option for _, option in declared if option)
        return Greeting(lines, (lines[-1].at - started) / 1e9, declared, options)

    def start(self) -> None:
        """Have a process that was greeted and sent its options; it may not be ready yet."""
        if self._greeted:
            return
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        try:
            self.spawn()
            self.greeting = self.greet()
            settings = dict(self.candidate.options)
            self.rules = rules_of(self.greeting.options, settings, self._default_rules)
            for name, value in settings.items():
                self.set_option(name, value)
        except BaseException:
            self.start_failures += 1
            raise
        self._greeted, self.start_failures = True, 0

    def ensure(self) -> None:
        """Have a process that was greeted and is ready."""
        failures = self.start_failures
        self.start()
        if not self._prepared:
            try:
                self.ping()
            except BaseException:
                self.start_failures = failures + 1
                raise

    def new_game(self) -> None:
        """Have a process that is ready for a new game."""
        self.ensure()
        self.send(self.dialect.new_game.decode().strip())
        self.ping()

    def discard(self) -> None:
        super().discard()
        self._greeted = self._prepared = self.changed = False

    def tidy(self, failed: bool) -> None:
        """Make the process fit for the next step, or end it."""
        if self._process is None:
            return
        try:
            if self.owed and not failed:
                self.send("stop")
                self.until("bestmove", LATE, "stop")
                self.ping()
        except (Fault, EngineError):
            failed = True
        if failed or self.changed or self.owed or not self._greeted:
            self.discard()

    def end(self, occasion: str) -> None:
        """Wait for the process to exit on an occasion such as 'quit'.

        A process that was not greeted may need the time of a start first.
        """
        started = monotonic_ns()
        starting = 0.0 if self._greeted else self.greeting.seconds
        patience = min(LAST_SECONDS, max(self.pace.answer, LATE)) + starting
        assert self._process is not None
        if not self._process.wait(patience):
            raise Fault(f"the process still runs {patience:.3g} s after {occasion}")
        status = self._process.exit_status()
        seconds = (monotonic_ns() - started) / 1e9
        if seconds > LATE + starting:
            self.warn(f"took {seconds:.1f} s to end after {occasion}")
        self.exits.append((occasion, "" if status == 0 else self._process.describe_end()))
        self.discard()

    # Readiness and options.

    def ping(self) -> list[Line]:
        """Wait until the engine is ready; the lines up to readyok."""
        first = not self._prepared
        asked = monotonic_ns()
        self.send("isready")
        seconds = self.pace.ready if first else self.pace.answer
        lines = self.until("readyok", seconds, "isready")
        if first:
            self._prepared, self.preparing = True, (lines[-1].at - asked) / 1e9
        return lines

    def survive(self, data: bytes, what: str) -> list[Line]:
        """Send bytes that the engine must survive; the lines up to the next readyok."""
        try:
            self.raw(data)
            return self.ping()
        except EngineError as error:
            raise Fault(f"{error}, after {what}") from None
        except Fault as fault:
            raise Fault(f"{fault.reason}, after {what}", fault.line) from None

    def hope_for_ready(self, warning: str) -> None:
        """Wait for a readyok that an engine need not send; without it the process is discarded.

        A new process also has the time that the one before it needed to start and get ready.
        """
        starting = 0.0 if self._prepared else self.greeting.seconds + self.preparing
        try:
            self.until("readyok", LATE + starting, "isready")
        except Fault:
            self.warn(warning)
            self.changed = True

    def needs_option(self, name: str, least: int | None = None) -> Option:
        """The option with that name, which the step will set; the step is skipped without it.

        It is also skipped if the option is no spin that reaches ``least``, where that is given.
        """
        self.ensure()
        option = self.greeting.options.get(name)
        if option is None or least is not None and (option.maximum or 0) < least:
            raise Skip(f"the engine has no option {name}")
        self.changed = True
        return option

    def value(self, name: str) -> str:
        """The value of an option at every start; empty if the engine does not have it."""
        option = self.greeting.options.get(name)
        set_to = {key.lower(): value for key, value in self.candidate.options}
        return set_to.get(name.lower(), option.default) if option is not None else ""

    def set_option(self, name: str, value: str | None) -> None:
        """Set an option, or with None press a button; getting ready may take long afterwards."""
        self._prepared = False
        self.send(setoption(name, value))

    # Searches.

    def position(self, text: str) -> Position:
        """A position under the engine's rules."""
        return parse_position(text, self.rules)

    def needs(self, text: str) -> None:
        """Skip a step that plays in a position if the engine's rules end the game there."""
        self.ensure()
        if self.position(text).outcome() is not None:
            raise Skip("the engine's rules end the game in the position that it needs")

    def begin(self, go: str, start: str = START, moves: Iterable[str] = ()) -> Search:
        """Set up a position and start a search."""
        self.ensure()
        first = position = self.position(start)
        played = [parse_move(token) for token in moves]
        for move in played:
            position = position.push(move)
        setup = self.dialect.position(first, played).decode()
        self.send(setup)
        return self.begin_here(go, position, setup)

    def begin_here(self, go: str, position: Position, setup: str) -> Search:
        """Start a search in the position that ``setup`` has set up."""
        if self.dialect.name == "ugi":
            # Spaces stay as they are: a step may be about them.
            go = re.sub(r"\S+", lambda word: _UGI_WORDS.get(word[0], word[0]), go)
        search = Search(position, setup, go, monotonic_ns())
        self.searches.append(search)
        self.owed += 1
        self.send(go)
        return search

    def finish(self, search: Search, seconds: float | None = None) -> Search:
        """Wait for the answer to a search, and until the engine is ready again."""
        patience = self.pace.answer if seconds is None else seconds
        *lines, search.best = self.until("bestmove", patience, search.go)
        search.lines += lines
        self.ping()
        return search

    def search(
        self, go: str, start: str = START, moves: Iterable[str] = (), seconds: float | None = None
    ) -> Search:
        """A whole search."""
        return self.finish(self.begin(go, start, moves), seconds)

    def stop(self, search: Search) -> float:
        """Stop a search; the seconds until its answer."""
        started = monotonic_ns()
        self.send("stop")
        return self.finish(search, max(self.pace.answer, LATE)).seconds_from(started)

    def watch(self, search: Search, seconds: float) -> Line | None:
        """Follow a search for that many seconds; return its answer if it ends in that time."""
        for line in self.listen(seconds):
            if line.first == "bestmove":
                search.best = line
            else:
                search.lines.append(line)
        return search.best


def rules_of(options: Options, settings: Mapping[str, str], default: Rules) -> Rules:
    """The rules that an engine's options name by default, changed by ``settings``.

    What its options do not name is as in ``default``.
    """
    values = [(option.name.lower(), option.default) for option in options.values()]
    values += [(name.lower(), value) for name, value in settings.items() if name in options]
    # The variant sets all fields, and an engine may list it after them.
    values[: len(options)] = sorted(values[: len(options)], key=lambda v: v[0] != _VARIANT)
    rules = default
    for name, value in values:
        if name == _VARIANT and value.lower() in PRESETS:
            rules = make_rules(value, default.fields_text().split())
        elif name in _FIELD_NAMES:
            try:
                rules = rules.with_field(name, value)
            except InputError:
                pass  # A step of its own checks the option.
    return rules
