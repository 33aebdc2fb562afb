"""The engine under check: its state, options and searches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic_ns

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, PRESETS, Rules, make_rules
from merels.protocol.check.conversation import FAIL_DELAY, Conversation, Fault, Pace, Skip
from merels.protocol.check.transcript import Line, Search
from merels.protocol.client.dialects import UciAdapter, UgiAdapter, dialect
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import Option, Options, parse_option, setoption
from merels.protocol.process.errors import EngineError

EXIT_SECONDS = 5.0
"""Longest time in which a process must exit, in seconds; see `Subject.end`."""
_VARIANT = "uci_variant"
_FIELD_NAMES = frozenset(rule.name.lower() for rule in FIELDS)
_UGI_WORDS = dict(zip(UciAdapter.clock_words, UgiAdapter.clock_words))


@dataclass(slots=True)
class Greeting:
    """The engine's answer to the handshake."""

    lines: list[Line] = field(default_factory=list)
    seconds: float = 0.0
    """Time from the handshake to the last line, in seconds."""
    option_lines: list[tuple[Line, Option | None]] = field(default_factory=list)
    """The ``option`` lines, each with its option, or None if it has no name or no type."""
    options: Options = field(default_factory=Options)


class Subject(Conversation):
    """The engine under check.

    A step uses the process of the previous step. It uses a new process if that step failed or left
    the process in another state, such as with changed options.
    """

    def __init__(self, candidate: EngineSpec, pace: Pace, rules: Rules = DEFAULT_RULES) -> None:
        """``rules`` gives the values of rule fields for which the engine has no option."""
        super().__init__(candidate, pace)
        self.dialect = dialect(candidate.protocol)
        self.rules = self._default_rules = rules
        self.greeting = Greeting()
        self.searches: list[Search] = []
        """Searches of all steps so far that did not fail."""
        self.exits: list[tuple[str, str]] = []
        """For each process that a step has ended: the occasion, and its end, '' for exit code 0."""
        self.start_failures = 0
        """Number of failed starts since the last successful start."""
        self.failure: Fault | EngineError | None = None
        """Error of the start before the first step; the first step that needs a start raises it."""
        self.surveyed: bool | None = None
        """Whether the searches of `output.survey` succeeded; None before the first attempt."""
        self.must_restart = False
        """Whether the next step needs a new process."""
        self.ready_seconds = 0.0
        """Seconds to the latest readyok that `Pace.ready` limits, after a start or setoption."""
        self._greeted = False
        self._ready = False

    # The process.

    def greet(self) -> Greeting:
        """Send the handshake and return the answer; a second handshake is allowed."""
        started = monotonic_ns()
        hello = self.dialect.hello.decode().strip()
        self.send(hello)
        lines = self.until(self.dialect.ready.decode(), self.pace.start, hello)
        declared = [(line, parse_option(line.text)) for line in lines if line.first == "option"]
        options = Options(option for _, option in declared if option)
        return Greeting(lines, (lines[-1].at - started) / 1e9, declared, options)

    def ensure_started(self) -> None:
        """Start a process, greet it and set its options, unless a greeted process runs.

        Its readyok is not awaited.
        """
        if self._greeted:
            return
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        try:
            self.spawn()
            self.greeting = self.greet()
            settings = dict(self.candidate.options)
            self.rules = engine_rules(self.greeting.options, settings, self._default_rules)
            for name, value in settings.items():
                self.set_option(name, value)
        except BaseException:
            self.start_failures += 1
            raise
        self._greeted, self.start_failures = True, 0

    def ensure_ready(self) -> None:
        """Call `ensure_started`, and wait for the process's first readyok."""
        failures = self.start_failures
        self.ensure_started()
        if not self._ready:
            try:
                self.ping()
            except BaseException:
                self.start_failures = failures + 1
                raise

    def new_game(self) -> None:
        """Ensure that a process is ready, and announce a new game to it."""
        self.ensure_ready()
        self.send(self.dialect.new_game.decode().strip())
        self.ping()

    def discard(self) -> None:
        super().discard()
        self._greeted = self._ready = self.must_restart = False

    def recover(self, failed: bool) -> None:
        """Prepare the next step: stop a search that still runs; kill a process left unusable.

        ``failed``: whether the last step has failed.
        """
        if self._process is None:
            return
        try:
            if self.unanswered and not failed:
                self.send("stop")
                self.until("bestmove", FAIL_DELAY, "stop")
                self.ping()
        except (Fault, EngineError):
            failed = True
        if failed or self.must_restart or self.unanswered or not self._greeted:
            self.discard()

    def end(self, occasion: str) -> None:
        """Wait for the process to exit; ``occasion`` names the cause, such as 'quit'.

        Warn if it takes more than `FAIL_DELAY`. Raise `Fault` after `Pace.answer`, but not before
        `FAIL_DELAY` and at the latest after `EXIT_SECONDS`. A process that was not greeted also
        gets the time of a start.
        """
        started = monotonic_ns()
        starting = 0.0 if self._greeted else self.greeting.seconds
        patience = min(EXIT_SECONDS, max(self.pace.answer, FAIL_DELAY)) + starting
        assert self._process is not None
        if not self._process.wait(patience):
            raise Fault(f"the process still runs {patience:.3g} s after {occasion}")
        status = self._process.exit_status()
        seconds = (monotonic_ns() - started) / 1e9
        if seconds > FAIL_DELAY + starting:
            self.warn(f"took {seconds:.1f} s to end after {occasion}")
        self.exits.append((occasion, "" if status == 0 else self._process.describe_end()))
        self.discard()

    # Readiness and options.

    def ping(self) -> list[Line]:
        """Send isready; return the lines up to and including readyok."""
        first = not self._ready
        asked = monotonic_ns()
        self.send("isready")
        seconds = self.pace.ready if first else self.pace.answer
        lines = self.until("readyok", seconds, "isready")
        if first:
            self._ready, self.ready_seconds = True, (lines[-1].at - asked) / 1e9
        return lines

    def survive(self, data: bytes, what: str) -> list[Line]:
        """Send bytes, then isready; return the lines up to and including readyok.

        Raise `Fault` if the engine dies or hangs; ``what`` describes the bytes.
        """
        try:
            self.raw(data)
            return self.ping()
        except EngineError as error:
            raise Fault(f"{error}, after {what}") from None
        except Fault as fault:
            raise Fault(f"{fault.reason}, after {what}", fault.line) from None

    def warn_unless_ready(self, warning: str) -> None:
        """Wait for an optional readyok; if it does not arrive, warn and restart.

        A new process also gets the time that the previous process needed to start.
        """
        starting = 0.0 if self._ready else self.greeting.seconds + self.ready_seconds
        try:
            self.until("readyok", FAIL_DELAY + starting, "isready")
        except Fault:
            self.warn(warning)
            self.must_restart = True

    def require_option(self, name: str, least: int | None = None) -> Option:
        """Return the option that a step is about to set.

        Raise `Skip` if the engine has no option ``name``, or its maximum is less than ``least``.
        """
        self.ensure_ready()
        option = self.greeting.options.get(name)
        if option is None or least is not None and (option.maximum or 0) < least:
            bound = "" if least is None else f" that can be set to {least}"
            raise Skip(f"the engine has no option {name}{bound}")
        self.must_restart = True
        return option

    def value(self, name: str) -> str:
        """Return an option's value after `ensure_started`; '' if the engine has no such option."""
        option = self.greeting.options.get(name)
        settings = {key.lower(): value for key, value in self.candidate.options}
        return settings.get(name.lower(), option.default) if option is not None else ""

    def set_option(self, name: str, value: str | None) -> None:
        """Set an option, or press a button if ``value`` is None.

        The next readyok may take `Pace.ready`.
        """
        self._ready = False
        self.send(setoption(name, value))

    # Searches.

    def position(self, text: str) -> Position:
        """Parse a position under the engine's rules."""
        return parse_position(text, self.rules)

    def require_ongoing(self, text: str) -> None:
        """Raise `Skip` if the game is over in a position under the engine's rules."""
        self.ensure_ready()
        if self.position(text).outcome() is not None:
            raise Skip("the engine's rules end the game in the position that the step needs")

    def start_search(self, go: str, start: str = START, moves: Iterable[str] = ()) -> Search:
        """Set up the position after ``start`` and ``moves``, and start a search in it."""
        self.ensure_ready()
        first = position = self.position(start)
        played = [parse_move(token) for token in moves]
        for move in played:
            position = position.push(move)
        setup = self.dialect.position(first, played).decode()
        self.send(setup)
        return self.start_search_here(go, position, setup)

    def start_search_here(self, go: str, position: Position, setup: str) -> Search:
        """Start a search in ``position``, which the line ``setup`` has set up."""
        if self.dialect.name == "ugi":
            # Replace words only: a step may test the spaces between them.
            go = re.sub(r"\S+", lambda word: _UGI_WORDS.get(word[0], word[0]), go)
        search = Search(position, setup, go, monotonic_ns())
        self.searches.append(search)
        self.unanswered += 1
        self.send(go)
        return search

    def finish(self, search: Search, seconds: float | None = None) -> Search:
        """Wait for a search's bestmove, then call `ping`; return the search."""
        patience = self.pace.answer if seconds is None else seconds
        *lines, search.best = self.until("bestmove", patience, search.go)
        search.lines += lines
        self.ping()
        return search

    def search(
        self, go: str, start: str = START, moves: Iterable[str] = (), seconds: float | None = None
    ) -> Search:
        """Run a search to its bestmove."""
        return self.finish(self.start_search(go, start, moves), seconds)

    def stop(self, search: Search) -> float:
        """Stop a search; return the seconds from stop to its bestmove."""
        started = monotonic_ns()
        self.send("stop")
        return self.finish(search, max(self.pace.answer, FAIL_DELAY)).seconds_from(started)

    def watch(self, search: Search, seconds: float) -> Line | None:
        """Read a search's output for ``seconds``; return its bestmove line, or None."""
        for line in self.listen(seconds):
            if line.first == "bestmove":
                search.best = line
            else:
                search.lines.append(line)
        return search.best


def engine_rules(options: Options, settings: Mapping[str, str], default: Rules) -> Rules:
    """Return the rules that an engine plays by: its options' defaults, changed by ``settings``.

    Fields without an option have the values of ``default``.
    """
    values = [(option.name.lower(), option.default) for option in options.values()]
    values += [(name.lower(), value) for name, value in settings.items() if name in options]
    # The variant sets all fields, and an engine may list it after them.
    values[: len(options)] = sorted(values[: len(options)], key=lambda pair: pair[0] != _VARIANT)
    rules = default
    for name, value in values:
        if name == _VARIANT and value.lower() in PRESETS:
            rules = make_rules(value, default.fields_text().split())
        elif name in _FIELD_NAMES:
            try:
                rules = rules.with_field(name, value)
            except InputError:
                pass  # The step option-defaults reports an invalid default.
    return rules
