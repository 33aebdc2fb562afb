"""The engine under check: its state, options and searches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from time import monotonic_ns

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, PRESETS, Rules, make_rules
from merels.protocol.check.conversation import FAIL_DELAY, Conversation, Fault, Line, Pace, Skip
from merels.protocol.client.answers import NO_MOVES
from merels.protocol.client.dialects import UciAdapter, UgiAdapter, dialect
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.client.info import InfoLine, read_info
from merels.protocol.common.options import Option, Options, parse_option, setoption
from merels.protocol.process.errors import EngineError

EXIT_SECONDS = 5.0
"""Longest time in which a process must exit, in seconds; see `Subject.end`."""
_VARIANT = "uci_variant"
_FIELD_NAMES = frozenset(rule.name.lower() for rule in FIELDS)
_UGI_WORDS = dict(zip(UciAdapter.clock_words, UgiAdapter.clock_words))


class Kind(Enum):
    """The legality of a ``bestmove``."""

    LEGAL = "legal"
    NONE = "no move"
    WITHOUT_REMOVAL = "a mill without its removal"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"


def judge(position: Position, text: str) -> Kind:
    """Return the legality of a ``bestmove`` with move ``text`` in a position."""
    if text.lower() in NO_MOVES:
        return Kind.NONE
    move = move_or_none(text)
    if move is None:
        return Kind.UNREADABLE
    if position.is_legal(move):
        return Kind.LEGAL
    mills = {legal[:2] for legal in position.legal_moves() if legal.removed}
    return Kind.WITHOUT_REMOVAL if not move.removed and move[:2] in mills else Kind.ILLEGAL


def move_or_none(text: str) -> Move | None:
    """Parse a move; return None if ``text`` is malformed."""
    try:
        return parse_move(text)
    except InputError:
        return None


@dataclass(slots=True)
class Search:
    """A ``go`` and the lines that answer it."""

    position: Position
    setup: str
    """The ``position`` line."""
    go: str
    started: int
    """Time at which ``go`` was sent, by `time.monotonic_ns`."""
    lines: list[Line] = field(default_factory=list)
    """The lines before ``bestmove``."""
    best: Line | None = None
    """The ``bestmove`` line, or None before it arrives."""

    def seconds_from(self, start: int) -> float:
        """Return the seconds from ``start``, in ns, to ``bestmove``; 0 before it arrives."""
        return (self.best.arrived - start) / 1e9 if self.best else 0.0

    @property
    def infos(self) -> list[tuple[Line, InfoLine]]:
        """The parsed info lines that contain a number, a mistake or an unknown word."""
        infos = [(line, read_info(line.raw)) for line in self.lines if line.first == "info"]
        return [(line, info) for line, info in infos
                if info.numbers or info.mistakes or info.unknown]

    @property
    def scored(self) -> list[tuple[Line, InfoLine]]:
        """The parsed info lines with a score."""
        return [(line, info) for line, info in self.infos if info.scored]

    @property
    def final(self) -> tuple[Line, InfoLine] | None:
        """The last info line with an exact score of the best variation, or None."""
        return next(((line, info) for line, info in reversed(self.scored)
                     if not info.bound and info.numbers.get("multipv", 1) == 1), None)

    @property
    def words(self) -> list[str]:
        """The words of the ``bestmove`` line; empty before it arrives."""
        return self.best.words if self.best else []

    @property
    def answer(self) -> str:
        """The word after ``bestmove``, or ''."""
        return "".join(self.words[1:2])

    @property
    def move(self) -> Move | None:
        """The move in the answer, or None if the answer is malformed."""
        return move_or_none(self.answer)

    @property
    def kind(self) -> Kind:
        """The legality of the answer."""
        return judge(self.position, self.answer)

    def __str__(self) -> str:
        return f"'{self.go}' after '{self.setup}'"


class Subject(Conversation):
    """The engine under check.

    A step uses the process of the previous step. It uses a new process if that step failed or left
    the process in another state, such as with changed options.
    """

    def __init__(self, spec: EngineSpec, pace: Pace, rules: Rules = DEFAULT_RULES) -> None:
        """``rules`` gives the values of rule fields for which the engine has no option."""
        super().__init__(spec, pace)
        self.dialect = dialect(spec.protocol)
        self.rules = self._default_rules = rules
        self.greeting: list[Line] = []
        """The engine's answer to the latest handshake."""
        self.greeting_seconds = self.ready_seconds = 0.0
        """Seconds to the last line of `greeting`, and to the latest first readyok."""
        self.options = Options()
        self.searches: list[Search] = []
        """Searches of all steps so far that did not fail."""
        self.exits: list[tuple[str, str]] = []
        """For each process that a step has ended: the occasion, and its end, '' for exit code 0."""
        self.start_failures = 0
        """Number of failed starts since the last successful start."""
        self.surveyed: bool | None = None
        """Whether the searches of `output.survey` succeeded; None before the first attempt."""
        self.must_restart = False
        """Whether the next step needs a new process."""
        self._greeted = self._ready = False

    # The process.

    def greet(self) -> None:
        """Send the handshake and read the answer."""
        started = monotonic_ns()
        hello = self.dialect.hello.decode().strip()
        self.send(hello)
        self.greeting = self.until(self.dialect.ready.decode(), self.pace.start, hello)
        self.greeting_seconds = (self.greeting[-1].arrived - started) / 1e9
        self.options = Options(option for _, option in self.option_lines() if option)

    def option_lines(self) -> list[tuple[Line, Option | None]]:
        """Return each ``option`` line and its option, None if it has no name or no type."""
        return [(line, parse_option(line.text)) for line in self.greeting if line.first == "option"]

    def missing_rules(self) -> list[str]:
        """Return the rule fields for which tournaments need rules=known, as ``Name=value``.

        None are missing if the engine was given with rules=known.
        """
        if self.spec.rules_known:
            return []
        return self.dialect.missing_rules(self.rules, self.options)

    def ensure_started(self) -> None:
        """Start a process, greet it and set its options, unless a greeted process runs.

        Its readyok is not awaited.
        """
        if self._greeted:
            return
        try:
            self.spawn()
            self.greet()
            settings = dict(self.spec.options)
            self.rules = engine_rules(self.options, settings, self._default_rules)
            for name, value in settings.items():
                self.set_option(name, value)
        except BaseException:
            self.start_failures += 1
            raise
        self._greeted, self.must_restart, self.start_failures = True, False, 0

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
        self._greeted = self._ready = False

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
        `FAIL_DELAY` and at the latest after `EXIT_SECONDS`.
        """
        assert self._process is not None
        started = monotonic_ns()
        patience = min(EXIT_SECONDS, max(self.pace.answer, FAIL_DELAY))
        if not self._process.wait(patience):
            raise Fault(f"the process still runs {patience:.3g} s after {occasion}")
        seconds = (monotonic_ns() - started) / 1e9
        if seconds > FAIL_DELAY:
            self.warn(f"took {seconds:.1f} s to end after {occasion}")
        sound = self._process.exit_status() == 0
        self.exits.append((occasion, "" if sound else self._process.describe_end()))
        self.discard()

    # Readiness and options.

    def ping(self) -> list[Line]:
        """Send isready; return the lines up to and including readyok."""
        asked = monotonic_ns()
        self.send("isready")
        seconds = self.pace.answer if self._ready else self.pace.ready
        lines = self.until("readyok", seconds, "isready")
        if not self._ready:
            self._ready, self.ready_seconds = True, (lines[-1].arrived - asked) / 1e9
        return lines

    def survive(self, data: bytes, what: str) -> list[Line]:
        """Send bytes, then isready; return the lines up to and including readyok.

        Raise `Fault` if the engine dies or hangs; ``what`` describes the bytes.
        """
        try:
            self.send_bytes(data)
            return self.ping()
        except EngineError as error:
            raise Fault(f"{error}, after {what}") from None
        except Fault as fault:
            raise Fault(f"{fault.reason}, after {what}", fault.line) from None

    def require_option(self, name: str, least: int | None = None) -> Option:
        """Return the option that a step is about to set.

        Raise `Skip` if the engine has no option ``name``, or its maximum is less than ``least``.
        """
        self.ensure_ready()
        option = self.options.get(name)
        if option is None or least is not None and (option.maximum or 0) < least:
            bound = "" if least is None else f" that can be set to {least}"
            raise Skip(f"the engine has no option {name}{bound}")
        return option

    def set_option(self, name: str, value: str | None) -> None:
        """Set an option, or press a button if ``value`` is None.

        The next readyok may take `Pace.ready`; the next step gets a new process.
        """
        self.must_restart, self._ready = True, False
        self.send(setoption(name, value))

    # Searches.

    def position(self, text: str) -> Position:
        """Parse a position under the engine's rules."""
        return parse_position(text, self.rules)

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
    # The variant sets all fields, and an engine may list it after them.
    values.sort(key=lambda pair: pair[0] != _VARIANT)
    values += [(name.lower(), value) for name, value in settings.items() if name in options]
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
