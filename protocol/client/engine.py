"""Any engine as a Python object: started as a process, asked for moves, analyses and scores.

>>> with Engine.popen("merels") as engine:                              # doctest: +SKIP
...     result = engine.play(Position(), Limit(time=0.1))
...     print(result.move, result.info.score)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic_ns
from typing import Self

from merels.engine.common.errors import InputError, shorten
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules
from merels.engine.search.limits import Info, Limit
from merels.protocol.client.answers import NO_MOVES, Answer, ponder_text, read_move
from merels.protocol.client.any_engine import Analysis, AnyEngine, Call, PlayResult, Task
from merels.protocol.client.connection import FOREVER, START_SECONDS, Connection
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import Option, Value
from merels.protocol.process.command import split_command
from merels.protocol.process.errors import EngineError
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.pipe import Trace
from merels.protocol.process.process import QUIT_SECONDS

_STOP_SECONDS = 5.0
_SLICE = 500_000_000
_MOST_KEPT = 1 << 12
"""Lines of an analysis that are kept, the latest ones, while something else is awaited."""


class EngineAnalysis(Analysis):
    """The analysis of an engine that is a process.

    ``start`` is when it was asked (`monotonic_ns`), ``timeout`` how many nanoseconds it has.
    """

    def __init__(
        self, connection: Connection, position: Position, start: int, timeout: int
    ) -> None:
        super().__init__()
        self._connection = connection
        self._search = connection.searches
        self._position = position
        self._start = start
        self._deadline = start + timeout
        self._stopped = False
        self._kept = deque[bytes](maxlen=_MOST_KEPT)

    def keep(self, line: bytes) -> None:
        """Take a line that was read for something else."""
        self._kept.append(line)

    def _next(self, timeout: float | None) -> Info | None:
        connection = self._connection
        end = FOREVER if timeout is None else int(timeout * 1e9)
        end += monotonic_ns()
        while self.running:
            line = self._kept.popleft() if self._kept else None
            if line is None:
                # In slices, for another thread may bring the deadline forward.
                deadline = connection.search_deadline(self._start, self._deadline)
                line = connection.read_line(min(deadline, end, monotonic_ns() + _SLICE))
            if line is not None:
                self.running = connection.owing or bool(self._kept)
                if line[:16].lower().split(None, 1)[:1] == [b"info"]:
                    return connection.dialect.info(line, self._position)
            elif monotonic_ns() >= end:
                return None
            elif monotonic_ns() >= connection.search_deadline(self._start, self._deadline):
                self.running = False
                if connection.unended_answer(0) is None:
                    connection.stop()
                    raise connection.timed_out("does not end its search in its time")
        return None

    def stop(self) -> None:
        if self.running and not self._stopped:
            self._stopped = True
            self._deadline = monotonic_ns() + int(_STOP_SECONDS * 1e9)
            self._connection.stop_search(self._search)


class Engine(AnyEngine):
    """A running engine; make one with `Engine.popen`.

    ``connection`` is the conversation with the process, ``pid`` the process. `kill` is free for any
    thread, as `interrupt` is.
    """

    def __init__(
        self, spec: EngineSpec, *, stderr: str | Callable[[bytes], object] | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Start the process: see `Connection`; `greet` must follow, and `popen` does both."""
        self.connection = Connection(spec, stderr=stderr, trace=trace)
        self.options = self.connection.options
        self.pid = self.connection.pid
        self._settings: dict[str, str] = {}
        self._rules: Rules | None = None

    @property
    def timeout(self) -> float:
        """Seconds for an answer to ``isready``.

        A search has them beyond its time limit, and after it was interrupted.
        """
        return self.connection.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self.connection.timeout = seconds

    def greet(self, timeout: float = START_SECONDS) -> None:
        """Read the engine's name and options: see `Connection.greet`."""
        self.connection.greet(timeout)
        self.name = self.connection.name

    def ping(self, timeout: float | None = None) -> None:
        """Wait until the engine has carried out every command, ``timeout`` seconds at most.

        A running analysis goes on, and its output of that time can still be read.
        """
        analysis = self._analysis
        reader = None
        if isinstance(analysis, EngineAnalysis) and analysis.running:
            reader = analysis.keep
        self.connection.ping(timeout, reader)

    def enter(self, call: Call | None) -> Call | None:
        self.connection.enter(call)
        return super().enter(call)

    def stop_search(self, search: int) -> None:
        self.connection.stop_search(search)

    def kill(self) -> None:
        """End the process at once: see `Connection.kill`; `close` must still be called."""
        self.connection.kill()

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine within about ``patience`` seconds, and leave no process of it."""
        self.connection.close(patience)

    @classmethod
    def popen(
        cls,
        command: str | Sequence[str] | EngineSpec,
        *,
        timeout: float = START_SECONDS,
        protocol: str = "uci",
        directory: str | None = None,
        stderr: str | None = None,
        limits: ResourceLimits | None = None,
        trace: Trace | None = None,
    ) -> Self:
        """Start an engine and wait for its greeting, ``timeout`` seconds at most.

        ``command`` is one of
        - a list of words;
        - a string: the name of a file, or words split as a shell would split them;
        - an `EngineSpec`, which holds ``protocol``, ``directory`` and ``limits`` itself, and whose
          options are set.

        The engine runs in ``directory``, and is looked for there first. ``protocol`` is ``uci``,
        ``ugi`` or ``sanmill``. Standard error is appended to the file ``stderr``, if one is named.
        ``limits`` bound the resources of its processes. ``trace`` is called with everything sent
        and received. `EngineError` names what cannot be started. The error of an engine that dies
        or does not answer quotes its last output and its last line of standard error.
        """
        if isinstance(command, EngineSpec):
            spec = command
        else:
            words = tuple(split_command(command, directory))
            spec = EngineSpec(words, "", protocol, directory, resources=limits)
        engine = cls(spec, stderr=stderr, trace=trace)
        try:
            engine.greet(timeout)
            engine.configure(dict(spec.options))
        except BaseException:
            engine.close(0.0)
            raise
        return engine

    def configure(self, settings: Mapping[str, Value]) -> None:
        """Set options by name, in any case; None presses a button.

        An unknown name or a value out of bounds raises `EngineError` before anything is sent. An
        engine that declared no option is sent every option unchecked.
        """
        self._end_analysis()
        self._set(settings)
        # One of them may have been a rule: the next search sends all rules again.
        self._rules = None

    def _set(self, settings: Mapping[str, Value]) -> None:
        """`configure`, with no analysis running."""
        chosen: dict[str, str] = {}
        for name, value in settings.items():
            any_kind = Option(name, "button" if value is None else "string")
            try:
                option = self.options.find(name) if self.options else any_kind
                chosen[option.name] = option.check(value)
            except InputError as error:
                raise EngineError(str(error)) from None
        for name, text in chosen.items():
            self.connection.send_option(name, text)
            self._settings[name.lower()] = text

    def set_rules(self, rules: Rules) -> None:
        """Set the rules for which the engine has options."""
        if rules == self._rules:
            return
        self._end_analysis()
        for name, text in self.connection.dialect.settings(rules, self.options):
            self.connection.send_option(name, text)
        self._rules = rules

    def new_game(self) -> None:
        """Begin another game, and wait until the engine is ready for it."""
        self._end_analysis()
        self.connection.send_new_game()
        self.connection.await_ready()

    def _play(self, task: Task, limit: Limit) -> PlayResult:
        position = task.position
        line = self._position_line(task, 1)
        go = self.connection.dialect.go(limit, position.side, root_moves=task.root_moves)
        answer = self.connection.ask(position, line, go, self._patience(limit, position.side))
        if answer is None:
            self.connection.stop()
            raise self.connection.timed_out("plays no move in its time")
        move, reply = _read_moves(answer, position)
        if move is not None and task.root_moves and move not in task.root_moves:
            raise EngineError(f"move '{move}' is not among those to choose from")
        return PlayResult(move, reply, self.connection.dialect.info(answer.info, position))

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        position = task.position
        line = self._position_line(task, multipv)
        go = self.connection.dialect.go(
            limit or Limit(), position.side, root_moves=task.root_moves, infinite=limit is None
        )
        timeout = FOREVER if limit is None else self._patience(limit, position.side)
        start = self.connection.begin(line + b"\n" + go)
        return EngineAnalysis(self.connection, position, start, timeout)

    def _position_line(self, task: Task, multipv: int) -> bytes:
        """The ``position`` line, once the engine knows the rules and how many lines to give."""
        self.set_rules(task.start.rules)
        self._set_multipv(multipv)
        first, moves = task.start.retrace()
        return self.connection.dialect.position(first, (*moves, *task.moves))

    def _set_multipv(self, lines: int) -> None:
        option = self.options.get("MultiPV")
        if option is None:
            if lines > 1:
                raise EngineError("no option 'MultiPV': this engine gives one variation")
        elif self._settings.get("multipv", option.default) != str(lines):
            self._set({option.name: lines})

    def _patience(self, limit: Limit, side: int) -> int:
        """How long to wait for an answer, in nanoseconds."""
        seconds = limit.time if limit.time is not None else limit.clock(side)
        return FOREVER if seconds is None else int((max(0.0, seconds) + self.timeout) * 1e9)


def _read_moves(answer: Answer, position: Position) -> tuple[Move | None, Move | None]:
    """The move and the expected reply in an answer; only the move must be legal."""
    text, move = read_move(answer.text)
    if text.lower() in NO_MOVES:
        return None, None
    try:
        after = position.push(parse_move(text) if move is None else move)
    except InputError as error:
        raise EngineError(f"illegal move '{shorten(text)}': {error.expected}") from None
    try:
        reply = parse_move(ponder_text(answer.text))
        after.push(reply)
    except InputError:
        return move, None
    return move, reply
