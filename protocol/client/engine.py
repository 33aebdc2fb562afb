"""Any engine as a Python object: started as a process, asked for moves, analyses and scores.

>>> with Engine.popen("merels") as engine:                              # doctest: +SKIP
...     result = engine.play(Position(), Limit(time=0.1))
...     print(result.move, result.info.score)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic_ns

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules
from merels.engine.game.score import PovScore
from merels.engine.search.limits import Info, Limit
from merels.protocol.client.analysis import Analysis, EngineAnalysis
from merels.protocol.client.any_engine import AnyEngine, PlayResult, Task
from merels.protocol.client.dialects import answer_text, dialect, ponder_text
from merels.protocol.client.options import EMPTY, Option, Options, Value, parse_option
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.protocol.process.guardian import kill_group
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.pipe import STOP_SECONDS, Answer, Trace, open_pipe
from merels.protocol.process.process import QUIT_SECONDS, EngineProcess

__all__ = [
    "Analysis", "Engine", "EngineError", "EngineTerminated", "EngineTimeout", "Info", "Limit",
    "Option", "Options", "PlayResult", "PovScore", "ResourceLimits",
]

START_SECONDS = 10.0
PING_SECONDS = 15.0
STRAY_SECONDS = 0.5
"""What it has to end a search after a ``bestmove`` that makes no sense."""
NO_MOVES = ("0000", "(none)", "none", "null", "draw")
"""What engines write instead of a move."""
FOREVER = 1 << 60
"""Nanoseconds: 36 years."""
_MOST_OPTIONS = 512
LONGEST_NAME = 200
"""Characters of an engine's name, and of its author's, that are kept."""


class Engine(AnyEngine):
    """A running engine; make one with `Engine.popen`.

    Any method may raise `EngineTerminated` when the process has ended, and `EngineTimeout` when
    it does not answer. `kill` is free for any thread, as `interrupt` is.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        protocol: str = "uci",
        directory: str | None = None,
        stderr: str | None = None,
        limits: ResourceLimits | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Start the process and send the greeting, without waiting for the answer: `greet` does.

        `popen` is the usual way; this one allows several engines to start side by side.
        """
        self.dialect = dialect(protocol)
        self.options = Options()
        self.timeout = PING_SECONDS
        """Seconds to answer ``isready``, and what a search may take beyond its time limit."""
        self._process = EngineProcess(command, directory, stderr, limits)
        self.pid = self._process.pid
        self.author = ""
        self._pipe = open_pipe(self._process, inside=self.dialect.inside, trace=trace)
        self._settings: dict[str, str] = {}
        self._rules: Rules | None = None
        self._started = monotonic_ns()
        try:
            self._pipe.send(self.dialect.hello)
        except EngineTerminated:
            pass  # `greet` says so, and reads first what the engine may have left to say.

    @classmethod
    def popen(
        cls,
        command: str | Sequence[str],
        *,
        timeout: float = START_SECONDS,
        protocol: str = "uci",
        directory: str | None = None,
        stderr: str | None = None,
        limits: ResourceLimits | None = None,
        trace: Trace | None = None,
    ) -> Engine:
        """Start an engine and wait for its greeting, ``timeout`` seconds at most.

        ``command`` is a list of words, or a string that is split like a shell's; no shell runs.
        ``directory`` is where it runs and is looked for first. ``protocol`` is ``uci``, ``ugi`` or
        ``sanmill``. What it writes to standard error is appended to the file ``stderr``, or
        dropped. ``limits`` bound what it may use. ``trace`` is called with everything sent and
        received.
        """
        engine = cls(
            command, protocol=protocol, directory=directory, stderr=stderr, limits=limits,
            trace=trace,
        )
        try:
            engine.greet(timeout)
        except BaseException:
            engine.close(0.0)
            raise
        return engine

    def __repr__(self) -> str:
        return f"<Engine {self.name or '?'} (pid {self.pid})>"

    def greet(self, timeout: float = START_SECONDS) -> None:
        """Read the engine's name and options, until ``timeout`` seconds after it was started."""
        deadline = self._started + int(timeout * 1e9)
        while True:
            line = self._pipe.read_line(deadline)
            if line is None:
                hello = self.dialect.hello.decode().strip()
                raise EngineTimeout(f"gives no answer to {hello} in {timeout:g} s")
            words = line.decode("utf-8", "replace").split(None, 2)
            first = words[0].lower() if words else ""
            if first == self.dialect.ready.decode():
                return
            if first == "id" and len(words) == 3:
                if words[1] == "name":
                    self.name = shorten(words[2], LONGEST_NAME)
                elif words[1] == "author":
                    self.author = shorten(words[2], LONGEST_NAME)
            elif first == "option" and len(self.options) < _MOST_OPTIONS:
                option = parse_option(line.decode("utf-8", "replace"))
                if option is not None:
                    self.options.add(option)

    def configure(self, settings: Mapping[str, Value]) -> None:
        """Set options by name, in any case; None presses a button.

        An unknown name or a value out of bounds raises `EngineError` before anything is sent. An
        engine that told of no option at all is sent everything as it is.
        """
        self._end_analysis()
        chosen: dict[str, str] = {}
        for name, value in settings.items():
            any_kind = Option(name, "button" if value is None else "string")
            try:
                option = self.options.find(name) if self.options else any_kind
                chosen[option.name] = option.check(value)
            except InputError as error:
                raise EngineError(str(error)) from None
        for name, text in chosen.items():
            self._set(name, text)
            self._settings[name.lower()] = text
        # One of them may have been a rule: the next search tells them all again.
        self._rules = None

    def _set(self, name: str, text: str) -> None:
        """Send one option, whose name and text were checked."""
        command = f"setoption name {name} value {text}" if text else f"setoption name {name}"
        if name in self.options and self.options[name].kind == "string" and not text:
            command = f"setoption name {name} value {EMPTY}"
        self._pipe.send(command.encode() + b"\n")

    def set_rules(self, rules: Rules) -> None:
        """Tell the engine the rules, as far as it has options for them."""
        if rules == self._rules:
            return
        self._end_analysis()
        for name, text in self.dialect.settings(rules, self.options):
            self._set(name, text)
        self._rules = rules

    def new_game(self) -> None:
        """Say that what follows is another game, and wait until the engine is ready for it."""
        self.send_new_game()
        self.await_ready(self.timeout)

    def send_new_game(self) -> None:
        """The first half of `new_game`: several engines can prepare side by side."""
        self._end_analysis()
        self._pipe.drop()
        self._pipe.send(self.dialect.new_game + b"isready\n")

    def ping(self, timeout: float | None = None) -> None:
        """Wait until the engine has done all it was told, ``timeout`` seconds at most."""
        self._pipe.drop()
        self._pipe.send(b"isready\n")
        self.await_ready(self.timeout if timeout is None else timeout)

    def await_ready(self, timeout: float) -> None:
        """Read up to ``readyok``; all before it is dropped."""
        deadline = monotonic_ns() + int(timeout * 1e9)
        while True:
            line = self._pipe.read_line(deadline)
            if line is None:
                raise EngineTimeout(f"gives no answer to isready in {timeout:g} s")
            if line.lower() == b"readyok":
                return
            if self._pipe.is_answer(line):
                self._pipe.owing = False

    def _check_end(self, task: Task, limit: Limit) -> None:
        # An engine may have a limit of its own, for a bare "go".
        if limit != Limit():
            super()._check_end(task, limit)

    def _play(self, task: Task, limit: Limit) -> PlayResult:
        position = task.position
        line = self._position_line(task)
        self._set_multipv(1)
        go = self.dialect.go(limit, position.side, root_moves=task.root_moves)
        answer = self.ask(position, line, go, self._patience(limit, position.side))
        if answer is None:
            self.stop()
            raise EngineTimeout("plays no move in its time")
        move, reply = self._read_moves(answer, position)
        if move is not None and task.root_moves and move not in task.root_moves:
            raise EngineError(f"move '{move}' is not among those to choose from")
        return PlayResult(move, reply, self.dialect.info(answer.info, position))

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        position = task.position
        line = self._position_line(task)
        self._set_multipv(multipv)
        go = self.dialect.go(
            limit or Limit(), position.side, root_moves=task.root_moves, infinite=limit is None
        )
        timeout = FOREVER if limit is None else self._patience(limit, position.side)
        self._settle()
        start = self._pipe.begin(line + b"\n" + go)
        return EngineAnalysis(self._pipe, self.dialect, position, start, timeout)

    def ask(self, position: Position, line: bytes, go: bytes, timeout: int) -> Answer | None:
        """The engine's raw answer to a ``position`` line and a ``go``: what tournaments use.

        ``timeout`` is in nanoseconds; None means that the answer is still owed: see `stop`.
        """
        self._settle()
        return self.dialect.ask(self._pipe, position, line, go, timeout)

    def _settle(self) -> None:
        """Let no answer to an earlier search be on its way; `EngineTimeout` if it does not come."""
        if not self._pipe.settle(self.timeout):
            raise EngineTimeout(f"gives no answer to an earlier search in {self.timeout:g} s")
        if self._pipe.untidy:
            # It has sent a bestmove too many before.
            self.ping()

    def stop(self, seconds: float = STOP_SECONDS) -> Answer | None:
        """Stop a search and wait so long for its answer; None if the engine still owes it."""
        return self._pipe.stop(seconds)

    def answer_after_stray(self, answer: Answer) -> Answer | None:
        """What follows an answer that cannot be right, if it was one too many to an earlier go.

        The search that was asked for then still runs, and is ended. None if nothing follows.
        """
        late = self.stop(STRAY_SECONDS)
        if late is None:
            return None
        self._pipe.untidy = True
        return late._replace(elapsed=answer.elapsed + late.elapsed)

    def interrupt(self) -> None:
        self._pipe.send(b"stop\n")

    def kill(self) -> None:
        """End the process at once: the thread that waits for its answer gets `EngineTerminated`.

        What the engine held is freed by `close`, as ever.
        """
        if not self._process.closed:
            kill_group(self.pid)

    def start_pondering(self, line: bytes, go: bytes) -> None:
        """Send a ``go ponder`` without waiting: `ponderhit` or `stop` ends it."""
        self._settle()
        self._pipe.begin(line + b"\n" + go)

    def ponderhit(self, timeout: int) -> Answer | None:
        """The answer, as from `ask`, to the search that went on while the opponent thought."""
        start = monotonic_ns()
        try:
            self._pipe.send(b"ponderhit\n", timeout / 1e9)
        except EngineTimeout:
            return None
        return self._pipe.wait_answer(start, timeout)

    def widen_output(self) -> None:
        """Make room for what an engine writes while nobody reads: for one that ponders."""
        self._process.widen_output()

    def watch_silence(self, seconds: float | None) -> None:
        """Raise `EngineTimeout` from a search in which nothing is heard for twice so long.

        Half-way the engine is sent ``isready``, which every engine must answer while it searches.
        """
        self._pipe.silence = FOREVER if seconds is None else int(seconds * 1e9)

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine within about ``patience`` seconds, and leave no process of it."""
        self.send_quit()
        self._process.close(patience)
        self._pipe.close()

    def send_quit(self) -> None:
        """The first half of `close`: several engines can end side by side."""
        try:
            if not self._process.closed:
                self._pipe.send(b"stop\nquit\n" if self._analysis else b"quit\n", 0.0)
        except EngineError:
            pass
        self._pipe.close_input()

    def _position_line(self, task: Task) -> bytes:
        """The ``position`` line, once the engine knows the rules that it holds under."""
        self.set_rules(task.start.rules)
        return self.dialect.position(task.start, task.moves)

    def _set_multipv(self, lines: int) -> None:
        option = self.options.get("MultiPV")
        if option is None:
            if lines > 1:
                raise EngineError("no option 'MultiPV': this engine gives one variation")
            return
        try:
            text = option.check(lines)
        except InputError as error:
            raise EngineError(str(error)) from None
        if self._settings.get("multipv", option.default) != text:
            self._set(option.name, text)
            self._settings["multipv"] = text

    def _patience(self, limit: Limit, side: int) -> int:
        """How long to wait for an answer, in nanoseconds."""
        seconds = limit.time if limit.time is not None else limit.clock(side)
        return FOREVER if seconds is None else int((max(0.0, seconds) + self.timeout) * 1e9)

    def _read_moves(
        self, answer: Answer, position: Position
    ) -> tuple[Move | None, Move | None]:
        """The move and the expected reply in an answer; only the move must be legal."""
        text = answer_text(answer.text)
        if text.lower() in NO_MOVES:
            return None, None
        try:
            move = parse_move(text)
            after = position.push(move)
        except InputError as error:
            raise EngineError(f"illegal move '{shorten(text)}': {error.expected}") from None
        try:
            reply = parse_move(ponder_text(answer.text))
            after.push(reply)
        except InputError:
            return move, None
        return move, reply
