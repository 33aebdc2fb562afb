"""Any engine as a Python object: a process that plays moves and analyses positions.

>>> with Engine.popen("merels") as engine:                              # doctest: +SKIP
...     result = engine.play(Position(), Limit(time=0.1))
...     print(result.move, result.info.score)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic_ns
from typing import Self

from merels.engine.common.errors import InputError, required, required_function, shorten
from merels.engine.common.numbers import real_number
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules, required_rules
from merels.engine.search.limits import LONGEST, Info, Limit
from merels.protocol.client.answers import NO_MOVES, Answer, read_bestmove
from merels.protocol.client.any_engine import (
    Analysis,
    AnyEngine,
    PlayResult,
    Stop,
    Task,
    required_settings,
)
from merels.protocol.client.connection import (
    CHECK_INTERVAL,
    FOREVER,
    START_SECONDS,
    Connection,
)
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import EMPTY, Value
from merels.protocol.process.command import split_command
from merels.protocol.process.errors import EngineError
from merels.protocol.process.limits import ResourceLimits
from merels.protocol.process.pipe import Trace
from merels.protocol.process.process import QUIT_SECONDS


class EngineAnalysis(Analysis):
    """A running analysis of an engine process.

    ``start`` is the time of the request, in nanoseconds of `monotonic_ns`; ``timeout`` is in
    nanoseconds, too.
    """

    def __init__(
        self, connection: Connection, position: Position, start: int, timeout: int,
        *, is_infinite: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self._is_infinite = is_infinite
        self._connection = connection
        self._search = connection.searches
        self._position = position
        self._deadline = start + timeout
        self._stopped = False

    def _next(self, timeout: float | None) -> Info | None:
        connection = self._connection
        end = FOREVER if timeout is None else int(timeout * 1e9)
        end += monotonic_ns()
        while self.running:
            # Another thread's `stop` may bring the deadline forward during a wait.
            line = connection.read_line(min(self._deadline, end, monotonic_ns() + CHECK_INTERVAL))
            if line is not None:
                self.running = connection.owing
                if self.running and not self._is_infinite:
                    try:
                        connection.check_limit(line)
                    except EngineError:
                        self.running = False  # `check_limit` has stopped the search.
                        raise
                if line[:16].lower().split(None, 1)[:1] == [b"info"]:
                    return connection.dialect.info(line, self._position)
            elif monotonic_ns() >= end:
                return None
            elif monotonic_ns() >= self._deadline:
                self.running = False
                if connection.unterminated_answer(0) is None:
                    connection.stop()
                    raise connection.timeout_error("does not end its search in its time")
        return None

    def stop(self) -> None:
        if self.running and not self._stopped:
            self._stopped = True
            patience = int(self._connection.timeout * 1e9)
            self._deadline = min(self._deadline, monotonic_ns() + patience)
            self._connection.stop_search(self._search)


class Engine(AnyEngine):
    """A running engine process, started by `Engine.popen`.

    ``connection`` sends and receives lines, ``options`` come from the greeting, and ``pid`` is
    the process's number. Any thread may call `kill`.
    """

    def __init__(
        self, spec: EngineSpec, *, stderr: str | Callable[[bytes], object] | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Start the process: see `Connection`. Call `greet` next; `popen` does both."""
        super().__init__()
        required(spec, EngineSpec, "an EngineSpec; Engine.popen starts a command")
        required_function(trace, "trace")
        if stderr is not None and not callable(stderr):
            required(stderr, (str, os.PathLike), "the name of a file for stderr")
        self.connection = Connection(spec, stderr=stderr, trace=trace)
        self.options = self.connection.options
        self.pid = self.connection.pid
        self._settings: dict[str, str] = {}
        self._rules: Rules | None = None
        self.rules_known = spec.rules_known
        """Whether the engine plays by the rules of its games without options for them."""

    @property
    def timeout(self) -> float:
        """Time to answer ``isready``, in seconds.

        A search may exceed its time limit by this time, and may last this long after a stop.
        """
        return self.connection.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self.connection.timeout = real_number(seconds, 0, LONGEST, "timeout")

    def greet(self, timeout: float = START_SECONDS) -> None:
        """Read the engine's name and options; see `Connection.greet`."""
        self.connection.greet(real_number(timeout, 0, LONGEST, "timeout"))
        self.name = self.connection.name

    def ping(self, timeout: float | None = None) -> None:
        """Wait until the engine has executed every command, at most ``timeout`` seconds.

        The default is the engine's `timeout`. A running analysis continues; of its lines during
        the wait, the last 4096 can still be read.
        """
        if timeout is not None:
            real_number(timeout, 0, LONGEST, "timeout")
        with self.used():
            self.connection.ping(timeout, self._analysis is not None and self._analysis.running)

    def kill(self) -> None:
        """Kill the engine's processes; see `Connection.kill`. `close` must still be called."""
        self.connection.kill()

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine and its processes within about ``patience`` seconds."""
        self.connection.close(real_number(patience, 0, LONGEST, "patience"))

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
        rules_known: bool = False,
        trace: Trace | None = None,
    ) -> Self:
        """Start an engine, wait until it is ready and return it.

        command    a list of words, a string or an `EngineSpec`. A string is the name of a file, or
                   is split as a shell splits it. An `EngineSpec` replaces the arguments
                   ``protocol``, ``directory``, ``limits`` and ``rules_known``; its options are set.
        timeout    time for the greeting, and again for the first ping, in seconds
        protocol   ``uci``, ``ugi`` or ``sanmill``
        directory  the folder in which the engine runs, and where its program is searched first
        stderr     a file to which its standard error is appended
        limits     resource limits of its processes
        rules_known  whether it plays by the rules of its games without options for them
        trace      called with all lines sent and received

        `EngineError` if the engine cannot be started. If the engine ends or does not answer,
        `EngineTerminated` or `EngineTimeout` quotes its last output and error output.
        """
        real_number(timeout, 0, LONGEST, "timeout")
        if isinstance(command, EngineSpec):
            spec = command
        else:
            # The arguments are checked before the command's program is searched.
            spec = EngineSpec(
                (), "", protocol, directory, resources=limits, rules_known=rules_known
            )
            spec = replace(spec, command=tuple(split_command(command, directory)))
        engine = cls(spec, stderr=stderr, trace=trace)
        try:
            engine.greet(timeout)
            engine.configure(dict(spec.options))
            engine.ping(timeout)  # Otherwise the first search would pay for the engine's start.
        except BaseException:
            engine.close(0.0)
            raise
        return engine

    def configure(self, settings: Mapping[str, Value]) -> None:
        """Set options by case-insensitive name; None presses a button.

        An unknown name or an invalid value raises `InputError` before any option is sent. If the
        engine has declared no options, every option is sent that fits on a line of UTF-8.
        """
        required_settings(settings)
        with self.used():
            self._end_analysis()
            self._set(settings)
            # The settings may include a rule option, so the next search must set all rules.
            self._rules = None

    def _set(self, settings: Mapping[str, Value]) -> None:
        """Set options while no analysis is running; see `configure`."""
        texts = dict(self.options.check(name, value) for name, value in settings.items())
        for name, text in texts.items():
            self.connection.send_option(name, text)
            self._settings[name.lower()] = text

    def _exchange(self, options: Mapping[str, Value]) -> Mapping[str, Value]:
        earlier: dict[str, Value] = {}
        for name in options:
            declared = self.options.find(name) if self.options else None
            default = None if declared is None else declared.default
            value = self._settings.get(name.lower(), default)
            if value is not None and (declared is None or declared.kind != "button"):
                earlier[name] = value or EMPTY
        if options:
            self.configure(options)
        return earlier

    def set_rules(self, rules: Rules) -> None:
        """Set the engine's options for ``rules``.

        `EngineError` if the engine has no option for a field of the rules, and is not
        `rules_known`. Then nothing is sent.
        """
        if rules == self._rules:
            return
        required_rules(rules)
        dialect = self.connection.dialect
        missing = [] if self.rules_known else dialect.missing_rules(rules, self.options)
        if missing:
            raise EngineError(
                f"the engine has no option for {', '.join(missing)}; start it with rules=known "
                "(in Python rules_known=True) if it plays by these rules"
            )
        with self.used():
            self._end_analysis()
            for name, text in dialect.settings(rules, self.options):
                self.connection.send_option(name, text)
            self._rules = rules

    def new_game(self) -> None:
        """Send ``ucinewgame``, and wait until the engine is ready."""
        with self.used():
            self._end_analysis()
            self.connection.send_new_game()
            self.connection.await_ready()

    def _play(self, task: Task, limit: Limit, stop: Stop | None) -> PlayResult:
        position = task.position
        line = self._position_line(task, 1)
        go = self.connection.dialect.go(limit, position.side, root_moves=task.root_moves)
        patience = self._patience(limit, position.side)
        answer = self.connection.ask(position, line, go, patience, stop)
        if answer is None:
            self.connection.stop()
            raise self.connection.timeout_error("plays no move in its time")
        try:
            move, reply = _read_moves(answer, position)
        except EngineError as error:
            self.connection.check_whole()
            raise EngineError(f"{error}{self.connection.reported_error()}") from None
        if move is not None and task.root_moves and move not in task.root_moves:
            raise EngineError(f"the engine answered '{move}', which is not in root_moves")
        return PlayResult(move, reply, self.connection.dialect.info(answer.info, position))

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        position = task.position
        line = self._position_line(task, multipv)
        go = self.connection.dialect.go(
            limit or Limit(), position.side, root_moves=task.root_moves, infinite=limit is None
        )
        timeout = FOREVER if limit is None else self._patience(limit, position.side)
        start = self.connection.begin(line + b"\n" + go)
        return EngineAnalysis(
            self.connection, position, start, timeout, is_infinite=limit is None
        )

    def _position_line(self, task: Task, multipv: int) -> bytes:
        """Send the rules and the number of variations if they changed; return the position line."""
        self.set_rules(task.start.rules)
        self._set_multipv(multipv)
        first, moves = task.start.retrace()
        return self.connection.dialect.position(first, (*moves, *task.moves))

    def _set_multipv(self, count: int) -> None:
        option = self.options.get("MultiPV")
        if option is None:
            if count > 1:
                raise EngineError("the engine has no option 'MultiPV'; ask for one variation only")
        elif self._settings.get("multipv", option.default) != str(count):
            self._set({option.name: count})

    def _patience(self, limit: Limit, side: int) -> int:
        """Return the longest time to wait for an answer, in nanoseconds."""
        seconds = limit.time if limit.time is not None else limit.clock(side)
        return FOREVER if seconds is None else int((max(0.0, seconds) + self.timeout) * 1e9)


def _read_moves(answer: Answer, position: Position) -> tuple[Move | None, Move | None]:
    """Return the move in an answer, and the expected reply if it is legal.

    The move is None if the engine claims a draw, or if the game is over and the engine reports that
    there is no move; `EngineError` if the move is illegal or missing.
    """
    text, move, ponder = read_bestmove(answer.text)
    if text.lower() in NO_MOVES:
        if text.lower() != "draw" and position.outcome() is None:
            raise EngineError(f"no move: the engine answered '{shorten(text)}' in a running game")
        return None, None
    try:
        after = position.push(parse_move(text) if move is None else move)
    except InputError as error:
        why = error.expected.removeprefix("illegal move, ")
        raise EngineError(f"illegal move '{shorten(text)}': {why}") from None
    try:
        reply = parse_move(ponder)
        after.push(reply)
    except InputError:
        return move, None
    return move, reply
