"""The interface of every engine, in another process or in this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import reduce
from threading import Lock
from time import monotonic_ns
from typing import NamedTuple, Self, overload

from merels.engine.common.errors import InputError
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.search.limits import Info, Limit
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout


@dataclass(frozen=True, slots=True)
class PlayResult:
    """An engine's choice; ``move`` is None if the engine reports that there is no move."""

    move: Move | None
    ponder: Move | None
    info: Info


class Analysis:
    """Iterate over it for each `Info` as it comes; leaving its ``with`` block stops it.

    ``info`` and ``infos`` are its reports so far; while it is ``running`` there may be more to
    read. One thread reads it; `stop` is free for others. Where the reports come from is left to the
    analysis of each kind of engine.
    """

    def __init__(self) -> None:
        self._variations: dict[int, Info] = {}
        self.running = True

    @property
    def info(self) -> Info:
        """The latest of the best variation."""
        return self._variations.get(1, Info())

    @property
    def infos(self) -> list[Info]:
        """The latest of each variation, the best one first."""
        return [self._variations[index] for index in sorted(self._variations)]

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        info = self.next()
        if info is None:
            raise StopIteration
        return info

    def next(self, timeout: float | None = None) -> Info | None:
        """Wait for the next `Info`, at most ``timeout`` seconds.

        None once the analysis has ended, or at the timeout, while it is still ``running``.
        """
        info = self._next(timeout) if self.running else None
        if info is not None and info.score is not None:
            self._variations[info.multipv] = info
        return info

    def _next(self, timeout: float | None) -> Info | None:
        """`next`; it clears ``running`` at the end."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ask the engine to end; what it still has to say can be read. Free for any thread."""
        raise NotImplementedError

    def wait(self) -> Info:
        """Read to the end and return the best variation."""
        while self.next() is not None:
            pass
        return self.info

    def close(self) -> None:
        """Stop and read to the end."""
        self.stop()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self.close()
        elif self.running and not isinstance(error, (EngineTerminated, EngineTimeout)):
            with suppress(EngineError):  # The caller must see the first error.
                self.close()


class Task(NamedTuple):
    """A search of the position that ``moves`` lead to from ``start``; all are known to be legal."""

    start: Position
    moves: Sequence[Move]
    position: Position
    root_moves: Sequence[Move]


class Call:
    """A block of searches that end when it is interrupted, even before the first has started.

    The thread that uses the engine enters it. `interrupt` is free for any thread at any time:
    before the block it stops each search of the block as soon as that begins, after it nothing.
    """

    def __init__(self, engine: AnyEngine) -> None:
        self.interrupted: int | None = None
        """When it was interrupted (`monotonic_ns`)."""
        self._engine = engine
        self._changing = Lock()
        self._search: int | None = None
        """The latest started search."""
        self._ended = False
        self._outer: Call | None = None

    def interrupt(self) -> None:
        """End the search that runs, and each that is still to begin."""
        with self._changing:
            if self.interrupted is None and not self._ended:
                self.interrupted = monotonic_ns()
                if self._search is not None:
                    self._engine.stop_search(self._search)

    def started(self, search: int) -> None:
        """Note that a search has started, and stop it if the block was interrupted before."""
        with self._changing:
            self._search = search
            if self.interrupted is not None:
                self._engine.stop_search(search)

    def __enter__(self) -> Self:
        self._outer = self._engine.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self._changing:
            self._ended = True
        self._engine.enter(self._outer)


class AnyEngine:
    """One search at a time: what asks for another, or closes the engine, ends the one before.

    It is a context manager that closes the engine. One thread may use it at a time. Only
    `interrupt`, `Call.interrupt` and `Analysis.stop` are free for others.
    """

    name = ""
    _analysis: Analysis | None = None
    _call: Call | None = None
    """The outermost call in progress."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        raise NotImplementedError

    def call(self) -> Call:
        """Return a block for several searches that another thread may interrupt."""
        return Call(self)

    def enter(self, call: Call | None) -> Call | None:
        """Have searches belong to a call, for `Call` itself; returns the one before."""
        before, self._call = self._call, call
        return before

    @contextmanager
    def _one_call(self) -> Iterator[None]:
        """A call for a single method, unless there is one already."""
        with nullcontext() if self._call is not None else Call(self):
            yield

    def interrupt(self) -> None:
        """End the search that another thread runs, even if it has not started yet.

        With no such call, a running analysis is stopped; without one, nothing is. No later search
        is affected. Free for any thread.
        """
        call, analysis = self._call, self._analysis
        if call is not None:
            call.interrupt()
        elif analysis is not None and analysis.running:
            analysis.stop()

    def stop_search(self, search: int) -> None:
        """Ask the search with that number to end, for `Call`; free for any thread."""
        raise NotImplementedError

    def play(
        self, position: Position, limit: Limit, *,
        moves: Iterable[Move] = (), root_moves: Sequence[Move] = (),
    ) -> PlayResult:  # fmt: skip
        """Return the engine's move in the position that ``moves`` lead to from ``position``.

        The engine knows the positions that may recur: ``position`` holds those since its last
        irreversible move, and ``moves`` adds to them; an illegal move raises `InputError`.
        ``root_moves`` are the only ones to choose from. An engine that answers with an illegal
        move, or with another, raises `EngineError`; one that has not answered `Engine.timeout`
        seconds after its time limit is stopped and raises `EngineTimeout`. A limit that never
        ends the search raises `InputError`, which is a ValueError.
        """
        with self._one_call():
            task = self._task(position, moves, root_moves)
            self._check_end(task, limit)
            return self._play(task, limit)

    @overload
    def analyse(
        self, position: Position, limit: Limit, *, multipv: None = None,
        moves: Iterable[Move] = (), root_moves: Sequence[Move] = (),
    ) -> Info: ...  # fmt: skip

    @overload
    def analyse(
        self, position: Position, limit: Limit, *, multipv: int,
        moves: Iterable[Move] = (), root_moves: Sequence[Move] = (),
    ) -> list[Info]: ...  # fmt: skip

    def analyse(
        self, position: Position, limit: Limit, *, multipv: int | None = None,
        moves: Iterable[Move] = (), root_moves: Sequence[Move] = (),
    ) -> Info | list[Info]:  # fmt: skip
        """Return the engine's last report on a position once the limit is reached.

        With ``multipv`` a list of the best variations, otherwise the best one. Arguments and
        errors are those of `play`.
        """
        with self._one_call():
            task = self._task(position, moves, root_moves)
            self._check_end(task, limit)
            with self._start_analysis(task, limit, multipv) as analysis:
                analysis.wait()
        return analysis.info if multipv is None else analysis.infos

    def analysis(
        self, position: Position, limit: Limit | None = None, *, multipv: int | None = None,
        moves: Iterable[Move] = (), root_moves: Sequence[Move] = (),
    ) -> Analysis:  # fmt: skip
        """Start an analysis and return the stream of its `Info`.

        It is endless without a limit, or with one that never ends the search.
        """
        with self._one_call():
            task = self._task(position, moves, root_moves)
            if limit is not None and not limit.ends(task.position.side):
                limit = None
            return self._start_analysis(task, limit, multipv)

    def _start_analysis(self, task: Task, limit: Limit | None, multipv: int | None) -> Analysis:
        """`analysis`, with its arguments checked."""
        self._analysis = self._analyse(task, limit, multipv or 1)
        return self._analysis

    def _check_end(self, task: Task, limit: Limit) -> None:
        """Raise `InputError` for a limit that never ends the search."""
        if not limit.ends(task.position.side):
            side = COLOURS[task.position.side]
            raise InputError(
                "limit",
                f"a search for {side} would never end: set time, depth, nodes, mate or {side}'s "
                "clock",
            )

    def _play(self, task: Task, limit: Limit) -> PlayResult:
        """`play`, with its arguments checked and no analysis running."""
        raise NotImplementedError

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        """`analysis`, in the same state."""
        raise NotImplementedError

    def _task(
        self, position: Position, moves: Iterable[Move], root_moves: Sequence[Move]
    ) -> Task:
        self._end_analysis()
        played = tuple(moves)
        there = reduce(Position.push, played, position)
        for move in root_moves:
            objection = there.objection(move)
            if objection is not None:
                raise InputError(str(move), f"illegal move to choose from, {objection}")
        return Task(position, played, there, root_moves)

    def _end_analysis(self) -> None:
        """Stop an analysis that still runs: an engine does one thing at a time."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None
