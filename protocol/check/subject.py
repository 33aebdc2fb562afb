"""The engine under check: its process, what was said to it, and everything that it said."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic_ns

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, PRESETS, Rules, make_rules
from merels.protocol.check.heard import Line, Search
from merels.protocol.check.verdicts import Fault, Skip
from merels.protocol.client.dialects import UciAdapter, UgiAdapter, dialect
from merels.protocol.client.engine import PING_SECONDS, START_SECONDS
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.client.options import Option, Options, parse_option
from merels.protocol.process.errors import EngineError, EngineTerminated
from merels.protocol.process.pipe import Pipe, open_pipe
from merels.protocol.process.process import EngineProcess

LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept."""
MOST_LINES = 200_000
"""Lines that are kept for the steps that judge them all."""
MOST_BYTES = 1 << 25
"""Bytes of lines that are kept for them, and that may come before one answer."""
PROMPT = 0.1
"""Seconds beyond which an answer that is due at once is unusual."""
LATE = 1.0
"""Seconds beyond which it is a fault."""
LAST_SECONDS = 5.0
"""What a process has to end by itself; beyond `LATE` it is unusual."""
_VARIANT = "uci_variant"
_FIELD_NAMES = frozenset(rule.name.lower() for rule in FIELDS)
_UGI_WORDS = dict(zip(UciAdapter.clock_words, UgiAdapter.clock_words))


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things are waited for, in seconds."""

    answer: float = 5.0
    """For what is due."""
    start: float = START_SECONDS
    """For the greeting."""
    ready: float = PING_SECONDS
    """For the first readyok of a process, and the first after an option was set."""
    watch: float = 1.0
    """How long a search that must not end by itself is watched."""
    listen: float = 0.2
    """How long something that should not come is listened for."""
    movetime: int = 500
    """Milliseconds of a timed search."""
    plies: int = 60
    """Of a game that the engine plays against itself."""
    games: int = 2


FAST = Pace(answer=3.0, watch=0.2, listen=0.1, movetime=100, plies=16, games=1)


@dataclass(slots=True)
class Greeting:
    """The answer to the handshake."""

    lines: list[Line] = field(default_factory=list)
    seconds: float = 0.0
    options: Options = field(default_factory=Options)


class Subject:
    """The engine, one process at a time: started when a step needs it, kept while it is well.

    Whatever it says is kept. ``warn`` notes what is allowed but unusual. Methods that wait raise
    `Fault` when what is due does not come, and `EngineError` when the process is gone.
    """

    def __init__(
        self, candidate: EngineSpec, pace: Pace, rules: Rules = DEFAULT_RULES
    ) -> None:
        """``rules`` are those that the engine plays by where it does not say so itself."""
        self.candidate = candidate
        self.pace = pace
        self.dialect = dialect(candidate.protocol)
        self.rules = self._default_rules = rules
        self.greeting = Greeting()
        self.heard: list[Line] = []
        self.searches: list[Search] = []
        self.strays: list[tuple[Line, str]] = []
        """Each ``bestmove`` that nobody had asked for, and what was said last before it."""
        self.exits: list[tuple[str, str]] = []
        """How processes ended that were to end: the occasion and, if not well, the way."""
        self.warnings: list[Fault] = []
        self.start_failures = 0
        """How many starts in a row failed."""
        self.failure: Fault | EngineError | None = None
        """How a start failed that the next step is to be told of, instead of starting again."""
        self.surveyed: bool | None = None
        """Whether the searches that others judge have been made; None before they were tried."""
        self.changed = False
        """Whether a step has left the process in a state that others must not meet."""
        self._folder = tempfile.mkdtemp(prefix="merels-check-")
        self._process: EngineProcess | None = None
        self._pipe: Pipe | None = None
        self._greeted = False
        self._prepared = False
        self._queue: deque[Line] = deque()
        self._tail = b""
        self._owed = 0
        self._bytes = 0
        self.preparing = 0.0
        """Seconds that the last such readyok took (see `Pace.ready`)."""
        self.said = ""
        """The last line that was sent, or its end."""

    # The process.

    def spawn(self) -> None:
        """Starts a new process and says nothing to it."""
        self.discard()
        self._process = EngineProcess(
            self.candidate.command,
            self.candidate.directory,
            os.path.join(self._folder, "stderr"),
            self.candidate.resources,
        )
        self._pipe = open_pipe(self._process, trace=self._hear)
        self._queue.clear()
        self._tail, self._owed, self.said = b"", 0, ""

    def greet(self) -> Greeting:
        """The handshake, on a process that may have been greeted before."""
        greeting = Greeting()
        started = monotonic_ns()
        hello = self.dialect.hello.decode().strip()
        self.send(hello)
        ready = self.dialect.ready.decode()
        greeting.lines = self.until(ready, self.pace.start, hello)
        greeting.seconds = (greeting.lines[-1].at - started) / 1e9
        for line in greeting.lines:
            option = parse_option(line.text) if line.first == "option" else None
            if option is not None:
                greeting.options.add(option)
        return greeting

    def ensure(self) -> None:
        """Has a process that was greeted, is ready, and is at the start of a game."""
        failures = self.start_failures
        self.start()
        if not self._prepared:
            try:
                self.ping()
            except BaseException:
                self.start_failures = failures + 1
                raise

    def start(self) -> None:
        """Has a process that was greeted and told its options; it may have yet to prepare."""
        if self._process is not None and self._greeted:
            return
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        try:
            self.spawn()
            self.greeting = self.greet()
            self.rules = _rules_of(
                self.greeting.options, dict(self.candidate.options), self._default_rules
            )
            for name, value in self.candidate.options:
                self.set_option(name, value)
        except BaseException:
            self.start_failures += 1
            raise
        self._greeted, self.start_failures = True, 0

    def discard(self) -> None:
        """Ends the process, however it is."""
        if self._process is not None and self._pipe is not None:
            self._process.close(0.0)
            self._pipe.close()
        self._process = self._pipe = None
        self._greeted = self._prepared = self.changed = False

    def close(self) -> None:
        """Ends the process and removes what was written about it."""
        self.discard()
        shutil.rmtree(self._folder, ignore_errors=True)

    def end(self, occasion: str) -> None:
        """Waits for the process to end by itself; ``occasion`` is why it should.

        One that was not greeted may have to start before it reads so.
        """
        assert self._process is not None
        started = monotonic_ns()
        starting = 0.0 if self._greeted else self.greeting.seconds
        patience = min(LAST_SECONDS, max(self.pace.answer, LATE)) + starting
        if not self._process.wait(patience):
            raise Fault(f"the process still runs {patience:.3g} s after {occasion}")
        seconds = (monotonic_ns() - started) / 1e9
        if seconds > LATE + starting:
            self.warn(f"took {seconds:.1f} s to end after {occasion}")
        end = self._process.describe_end()
        self.exits.append((occasion, "" if end == "exit code 0" else end))
        self.discard()

    def stderr(self) -> bytes:
        """What it has written to its standard error so far."""
        try:
            with open(os.path.join(self._folder, "stderr"), "rb") as file:
                return file.read(LONGEST_LINE)
        except OSError:
            return b""

    # The conversation.

    def warn(self, reason: str, line: Line | bytes | None = None) -> None:
        """Notes what is allowed but unusual."""
        self.warnings.append(Fault(reason, line.raw if isinstance(line, Line) else line))

    def send(self, *lines: str) -> None:
        """Sends lines."""
        self.raw("".join(line + "\n" for line in lines).encode())

    def raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self._pipe is not None
        self.said = (data[-200:].decode("utf-8", "replace").splitlines() or [""])[-1]
        self._pipe.send(data, self.pace.answer)

    def close_input(self) -> None:
        """Ends the engine's input."""
        assert self._pipe is not None
        self._pipe.close_input()

    def line(self, seconds: float) -> Line | None:
        """The next line, or None if none comes in time."""
        assert self._pipe is not None
        deadline = monotonic_ns() + int(seconds * 1e9)
        try:
            while not self._queue:
                if self._pipe.read_line(deadline) is None and not self._queue:
                    return None
        except EngineTerminated:
            if not self._queue:
                raise
        line = self._queue.popleft()
        self._bytes += len(line.raw)
        if len(self.heard) < MOST_LINES and self._bytes < MOST_BYTES:
            self.heard.append(line)
        if line.first == "bestmove":
            if self._owed:
                self._owed -= 1
            else:
                self.strays.append((line, self.said))
        return line

    def until(self, word: str, seconds: float, question: str) -> list[Line]:
        """All lines up to one that begins with a word; ``question`` is what it answers."""
        lines: list[Line] = []
        deadline = monotonic_ns() + int(seconds * 1e9)
        before = self._bytes
        while True:
            left = deadline - monotonic_ns()
            line = self.line(max(0.0, left / 1e9))
            if line is not None:
                lines.append(line)
                if line.first == word:
                    return lines
            if self._bytes - before > MOST_BYTES:
                raise Fault(f"more than {MOST_BYTES >> 20} MiB and no answer to '{question}'")
            if line is None or left < 0:
                last = lines[-1].raw if lines else None
                raise Fault(f"no answer to '{question}' in {seconds:g} s", last)

    def pending(self, seconds: float) -> list[Line]:
        """All lines that come in so many seconds."""
        lines: list[Line] = []
        deadline = monotonic_ns() + int(seconds * 1e9)
        while (left := deadline - monotonic_ns()) > 0:
            line = self.line(left / 1e9)
            if line is not None:
                lines.append(line)
        return lines

    def ping(self) -> list[Line]:
        """Waits until the engine is ready, and gives the lines up to its saying so."""
        first = not self._prepared
        asked = monotonic_ns()
        self.send("isready")
        seconds = self.pace.ready if first else self.pace.answer
        lines = self.until("readyok", seconds, "isready")
        if first:
            self._prepared, self.preparing = True, (lines[-1].at - asked) / 1e9
        return lines

    def survive(self, data: bytes, what: str) -> list[Line]:
        """Sends bytes that the engine must live through; the lines up to its being ready again."""
        try:
            self.raw(data)
            return self.ping()
        except EngineError as error:
            raise Fault(f"{error}, after {what}") from None
        except Fault as fault:
            raise Fault(f"{fault.reason}, after {what}", fault.line) from None

    def hope_for_ready(self, warning: str) -> None:
        """Waits for a readyok that an engine need not say; without one the process is given up.

        A new process has the time besides that the one before it needed to start and prepare.
        """
        starting = 0.0 if self._prepared else self.greeting.seconds + self.preparing
        try:
            self.until("readyok", LATE + starting, "isready")
        except Fault:
            self.warn(warning)
            self.changed = True

    def judge_late(self, seconds: float, reason: str, line: bytes | None = None) -> None:
        """Finds fault with what came so long after it was due, or finds it unusual."""
        self._judge(seconds, PROMPT, LATE, reason, line)

    def judge_clock(self, seconds: float, reason: str, line: bytes | None = None) -> None:
        """Finds fault with what came so long after its clock was down: that loses the game.

        A little is only unusual, for the way of the answer counts, too.
        """
        self._judge(seconds, 0.0, PROMPT, reason, line)

    def _judge(
        self, seconds: float, unusual: float, fault: float, reason: str, line: bytes | None
    ) -> None:
        """Warns beyond one bound, and raises a `Fault` beyond the other."""
        if seconds > fault:
            raise Fault(reason, line)
        if seconds > unusual:
            self.warn(reason, line)

    def new_game(self) -> None:
        """A process at the start of a new game."""
        self.ensure()
        self.send(self.dialect.new_game.decode().strip())
        self.ping()

    def option(self, name: str) -> Option | None:
        """The option of that name, if the engine offers it."""
        return self.greeting.options.get(name)

    def value(self, name: str) -> str:
        """What an option is set to at every start: nothing if the engine has not got it."""
        option = self.option(name)
        set_to = {key.lower(): value for key, value in self.candidate.options}
        return set_to.get(name.lower(), option.default) if option is not None else ""

    def set_option(self, name: str, value: str | None) -> None:
        """Sets an option, for which the engine may prepare anew; None presses a button."""
        self._prepared = False
        self.send(option_line(name, value))

    # Searches.

    def position(self, text: str) -> Position:
        """A position under the rules that the engine names."""
        return parse_position(text, self.rules)

    def needs(self, text: str) -> None:
        """Skips a step if the rules end the game in a position where the engine is to play."""
        self.ensure()
        if self.position(text).outcome() is not None:
            raise Skip("the engine's rules end the game in the position that it needs")

    def begin(self, go: str, start: str = START, moves: Iterable[str] = ()) -> Search:
        """Sets a position up and starts a search, with the dialect's own words."""
        self.ensure()
        first = position = self.position(start)
        played = [parse_move(token) for token in moves]
        for move in played:
            position = position.push(move)
        setup = self.dialect.position(first, played).decode()
        self.send(setup)
        return self.begin_here(go, position, setup)

    def begin_here(self, go: str, position: Position, setup: str) -> Search:
        """Starts a search where the engine stands, which ``setup`` has told it."""
        if self.dialect.name == "ugi":
            # Blanks stay as they are: a step may be about them.
            go = re.sub(r"\S+", lambda word: _UGI_WORDS.get(word[0], word[0]), go)
        search = Search(position, setup, go, monotonic_ns())
        self.searches.append(search)
        self._owed += 1
        self.send(go)
        return search

    def finish(self, search: Search, seconds: float | None = None) -> Search:
        """Waits for the answer to a search, and for what may come behind it."""
        patience = self.pace.answer if seconds is None else seconds
        lines = self.until("bestmove", patience, search.go)
        search.lines += lines[:-1]
        search.best = lines[-1]
        self.ping()
        return search

    def search(
        self, go: str, start: str = START, moves: Iterable[str] = (), seconds: float | None = None
    ) -> Search:
        """A whole search."""
        return self.finish(self.begin(go, start, moves), seconds)

    def stop(self, search: Search) -> float:
        """Ends a search; the seconds that it took to answer."""
        started = monotonic_ns()
        self.send("stop")
        self.finish(search, max(self.pace.answer, LATE))
        assert search.best is not None
        return (search.best.at - started) / 1e9

    def watch(self, search: Search, seconds: float) -> Line | None:
        """Listens to a search for so long; its answer if it ended meanwhile."""
        for line in self.pending(seconds):
            if line.first == "bestmove":
                search.best = line
            else:
                search.lines.append(line)
        return search.best

    def tidy(self, failed: bool) -> None:
        """Makes the process fit for the next step, or ends it."""
        if self._process is None:
            return
        try:
            if self._owed and not failed:
                self.send("stop")
                self.until("bestmove", LATE, "stop")
                self.ping()
        except (Fault, EngineError):
            failed = True
        if failed or self.changed or self._owed or not self._greeted:
            self.discard()

    def _hear(self, direction: str, data: bytes) -> None:
        """Takes in what came over the pipe, as it came."""
        if direction != "<":
            return
        now = monotonic_ns()
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._queue.append(Line((self._tail + part)[:LONGEST_LINE], now))
            self._tail = b""
        self._tail = (self._tail + rest)[:LONGEST_LINE]
        if not data and self._tail:
            self._queue.append(Line(self._tail, now))
            self._tail = b""


def option_line(name: str, value: str | None) -> str:
    """The line that sets an option; None presses a button."""
    return f"setoption name {name}" + ("" if value is None else f" value {value}")


def _rules_of(options: Options, settings: Mapping[str, str], default: Rules) -> Rules:
    """The rules that the engine's defaults say, and the settings made over them, in their order.

    What the engine does not say is as in ``default``.
    """
    values = [(option.name.lower(), option.default) for option in options.values()]
    values += [(name.lower(), value) for name, value in settings.items() if name in options]
    # A variant sets all the fields, and an engine may list it behind them.
    values[: len(options)] = sorted(values[: len(options)], key=lambda v: v[0] != _VARIANT)
    rules = default
    for name, value in values:
        if name == _VARIANT and value.lower() in PRESETS:
            rules = make_rules(value, default.fields_text().split())
        elif name in _FIELD_NAMES:
            try:
                rules = rules.with_field(name, value)
            except InputError:
                pass  # The option's own step finds fault with it.
    return rules
