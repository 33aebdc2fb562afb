"""The common interface of engines in another process and in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import reduce
from threading import Lock, RLock
from time import monotonic_ns
from typing import NamedTuple, Self, overload

from merels.engine.common.errors import InputError, required, shown
from merels.engine.common.numbers import real_number, truth_value, whole_number
from merels.engine.core.core import MAX_LINES
from merels.engine.game.position import COLOURS, Move, Position, read_move, required_position
from merels.engine.search.limits import LONGEST, Info, Limit, required_limit
from merels.protocol.common.options import Value
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout


@dataclass(frozen=True, slots=True)
class PlayResult:
    """An engine's choice; ``move`` is None if the game is over or the engine claims a draw."""

    move: Move | None
    ponder: Move | None
    info: Info


class AnalysisComplete(Exception):
    """`Analysis.get` was called at the end of the analysis."""


class Analysis:
    """A running analysis: an iterator over `Info` objects; leaving its ``with`` block stops it.

    ``info`` and ``infos`` are the latest reports read. More may follow while ``running`` is True.
    One thread reads an analysis; other threads may call `stop` only. Subclasses implement `_next`
    and `stop`.
    """

    engine: AnyEngine | None = None
    """The engine to hold while `_next` runs; None for an analysis without an `AnyEngine`."""

    def __init__(self) -> None:
        self._variations: dict[int, Info] = {}
        self._next_info: Info | None = None
        """The `Info` that `empty` has read in advance."""
        self.running = True

    @property
    def info(self) -> Info:
        """The latest `Info` about the best variation; before the first, an empty `Info`."""
        return self._variations.get(1, Info())

    @property
    def infos(self) -> list[Info]:
        """The latest `Info` about each variation, the best one first."""
        return [self._variations[index] for index in sorted(self._variations)]

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        info = self.next()
        if info is None:
            raise StopIteration
        return info

    def next(self, timeout: float | None = None) -> Info | None:
        """Wait for the next `Info`, at most ``timeout`` seconds; None waits without a limit.

        Return None at the end of the analysis or at the timeout. After a timeout, the analysis is
        still ``running``.
        """
        if timeout is not None:
            real_number(timeout, 0, LONGEST, "timeout")
        info = self._next_info or self._read(timeout)
        self._next_info = None
        if info is not None and info.score is not None:
            self._variations[info.multipv] = info
        return info

    def get(self) -> Info:
        """Wait for the next `Info`; `AnalysisComplete` at the end of the analysis."""
        info = self.next()
        if info is None:
            raise AnalysisComplete
        return info

    def empty(self) -> bool:
        """Return whether no `Info` can be read without waiting; more may follow."""
        self._next_info = self._next_info or self._read(0.0)
        return self._next_info is None

    def _read(self, timeout: float | None) -> Info | None:
        """Call `_next` while this thread uses the engine; return None after the end."""
        with nullcontext() if self.engine is None else self.engine.used():
            return self._next(timeout) if self.running else None

    def _next(self, timeout: float | None) -> Info | None:
        """Implement `next`; set ``running`` to False at the end."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ask the engine to stop; its last reports can still be read. Any thread may call this."""
        raise NotImplementedError

    def wait(self) -> Info:
        """Read to the end and return the last `Info` about the best variation."""
        while self.next() is not None:
            pass
        return self.info

    def close(self) -> None:
        """Stop the analysis and read to its end."""
        self.stop()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self.close()
        elif self.running and not isinstance(error, (EngineTerminated, EngineTimeout)):
            with suppress(EngineError):  # An error of `close` would hide the block's error.
                self.close()


class Task(NamedTuple):
    """A search of ``position``, which is reached from ``start`` by the legal ``moves``.

    Only ``root_moves`` are searched, or all legal moves if it is empty.
    """

    start: Position
    moves: Sequence[Move]
    position: Position
    root_moves: Sequence[Move]


class Stop:
    """Ends searches from any thread: the argument ``stop`` of `AnyEngine.play` and others.

    `set` ends the search that has this argument, and every later search as soon as it starts.
    """

    def __init__(self) -> None:
        self.time: int | None = None
        """Time of the first `set`, in nanoseconds of `monotonic_ns`; None before."""
        self._lock = Lock()
        self._end_search: Callable[[], None] | None = None

    def set(self) -> None:
        """End the running search and all later ones; any thread may call this."""
        with self._lock:
            if self.time is None:
                self.time = monotonic_ns()
                if self._end_search is not None:
                    self._end_search()

    def attach(self, end_search: Callable[[], None] | None) -> None:
        """Let `set` call ``end_search`` from any thread; None ends this. Used by engines.

        If `set` was called before, ``end_search`` is called now.
        """
        with self._lock:
            self._end_search = end_search
            if self.time is not None and end_search is not None:
                end_search()

    def deadline(self, start: int, deadline: int, patience: float) -> int:
        """Return the deadline of a search that began at ``start``.

        After `set`, ``deadline`` is shortened to ``patience`` seconds after `set`, or after
        ``start`` if the search began later. Other times are in nanoseconds of `monotonic_ns`.
        """
        if self.time is None:
            return deadline
        return min(deadline, max(start, self.time) + int(patience * 1e9))


class AnyEngine:
    """An engine, which runs one search at a time; a context manager that closes the engine.

    A new search, a new game and `close` stop an analysis that still runs. One thread may use an
    engine at a time: a call while another thread's call runs raises `InputError` and does not
    disturb that call. Other threads may call only `Stop.set` and `Analysis.stop`.
    """

    name = ""
    _analysis: Analysis | None = None
    _game: object = None

    def __init__(self) -> None:
        self._use = RLock()
        """Held by the thread that uses the engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        raise NotImplementedError

    @contextmanager
    def used(self) -> Iterator[None]:
        """Use the engine in this block; `InputError` if another thread uses it."""
        if not self._use.acquire(blocking=False):
            raise InputError(
                self.name or "engine", "another thread uses this engine; start an engine for each "
                "thread, or let the threads take turns",
            )  # fmt: skip
        try:
            yield
        finally:
            self._use.release()

    def new_game(self) -> None:
        """Tell the engine that the next position belongs to another game."""
        raise NotImplementedError

    def play(
        self, position: Position, limit: Limit, *, game: object = None, info: bool = True,
        ponder: bool = False, options: Mapping[str, Value] | None = None,
        moves: Iterable[Move | str] = (), root_moves: Iterable[Move | str] = (),
        stop: Stop | None = None,
    ) -> PlayResult:  # fmt: skip
        """Return the engine's move in the position after ``moves``, played from ``position``.

        The engine is sent the moves of ``position`` since its last irreversible move, then
        ``moves``, so that it can detect repetitions. It chooses only from ``root_moves``, or from
        all legal moves if ``root_moves`` is empty. Texts such as ``d6-d5`` are moves, too. Another
        thread may end the search with ``stop``.

        game     any object that stands for the game; a new game begins if it is not equal to that
                 of the call before
        info     whether the result has the engine's last report
        ponder   whether the engine goes on to search the position after the reply that it expects,
                 until its next call
        options  values of options for this search; afterwards they are as before

        `InputError`, which is a ValueError, for an illegal move in ``moves`` or ``root_moves``, for
        an option that the engine lacks, and for a limit that never ends the search. `EngineError`
        if the engine's move is missing, illegal or not among ``root_moves``, and if the engine has
        no options for the rules. If a process exceeds its time limit or clock by more than
        `Engine.timeout` seconds, it is sent ``stop``, and `EngineTimeout` is raised.
        """
        truth_value(info, "info")
        truth_value(ponder, "ponder")
        with self.used():
            task = self._begin_task(position, moves, root_moves, stop)
            self._check_end(task, limit)
            with self._prepared(game, options):
                result = self._play(task, limit, stop)
            if ponder and result.move is not None and result.ponder is not None:
                expected = (result.move, result.ponder)
                after = reduce(Position.push, expected, task.position)
                if after.outcome() is None:
                    pondered = Task(task.start, (*task.moves, *expected), after, ())
                    self._start_analysis(pondered, None, None, None)
        return result if info else replace(result, info=Info())

    @overload
    def analyse(
        self, position: Position, limit: Limit, *, multipv: None = None,
        game: object = None, options: Mapping[str, Value] | None = None,
        moves: Iterable[Move | str] = (), root_moves: Iterable[Move | str] = (),
        stop: Stop | None = None,
    ) -> Info: ...  # fmt: skip

    @overload
    def analyse(
        self, position: Position, limit: Limit, *, multipv: int,
        game: object = None, options: Mapping[str, Value] | None = None,
        moves: Iterable[Move | str] = (), root_moves: Iterable[Move | str] = (),
        stop: Stop | None = None,
    ) -> list[Info]: ...  # fmt: skip

    def analyse(
        self, position: Position, limit: Limit, *, multipv: int | None = None,
        game: object = None, options: Mapping[str, Value] | None = None,
        moves: Iterable[Move | str] = (), root_moves: Iterable[Move | str] = (),
        stop: Stop | None = None,
    ) -> Info | list[Info]:  # fmt: skip
        """Search until the limit is reached, and return the engine's last report.

        Return the `Info` about the best variation; with ``multipv``, a list with the `Info` about
        each of the ``multipv`` best variations. Other arguments and errors are those of `play`, but
        the move that the engine finally plays is not checked.
        """
        with self.used():
            task = self._begin_task(position, moves, root_moves, stop)
            self._check_end(task, limit)
            with (
                self._prepared(game, options),
                self._start_analysis(task, limit, multipv, stop) as analysis,
            ):
                analysis.wait()
        return analysis.info if multipv is None else analysis.infos

    def analysis(
        self, position: Position, limit: Limit | None = None, *, multipv: int | None = None,
        game: object = None,
        moves: Iterable[Move | str] = (), root_moves: Iterable[Move | str] = (),
        stop: Stop | None = None,
    ) -> Analysis:  # fmt: skip
        """Start an analysis and return it.

        If ``limit`` is None or never ends a search, the analysis runs until it is stopped. Other
        arguments and errors are those of `analyse`.
        """
        with self.used():
            task = self._begin_task(position, moves, root_moves, stop)
            if limit is not None and not required_limit(limit).ends(task.position.side):
                limit = None
            with self._prepared(game, None):
                return self._start_analysis(task, limit, multipv, stop)

    @contextmanager
    def _prepared(
        self, game: object, options: Mapping[str, Value] | None
    ) -> Iterator[None]:
        """Begin a new game if ``game`` is another one; set options in this block."""
        if game is not None and game != self._game:
            self.new_game()
            self._game = game
        earlier = self._exchange(required_settings({} if options is None else options))
        try:
            yield
        except (EngineTerminated, EngineTimeout):
            earlier = {}  # The engine takes no more commands.
            raise
        finally:
            self._exchange(earlier)

    def _exchange(self, options: Mapping[str, Value]) -> Mapping[str, Value]:
        """Set options, and return their earlier values. Engines with options override this."""
        if options:
            raise InputError(
                str(next(iter(options))), "the engine in this process has no options; it has "
                "arguments, and Engine.popen('merels') starts one with options",
            )  # fmt: skip
        return {}

    def _start_analysis(
        self, task: Task, limit: Limit | None, multipv: int | None, stop: Stop | None
    ) -> Analysis:
        """Start an analysis; ``task`` and ``limit`` are valid, ``multipv`` is checked here."""
        variations = 1 if multipv is None else whole_number(multipv, 1, MAX_LINES, "multipv")
        self._analysis = analysis = self._analyse(task, limit, variations)
        analysis.engine = self
        if stop is not None:
            stop.attach(analysis.stop)
        return analysis

    def _check_end(self, task: Task, limit: Limit) -> None:
        """Raise `InputError` for a limit that never ends the search."""
        if not required_limit(limit).ends(task.position.side):
            side = COLOURS[task.position.side]
            raise InputError(
                "limit",
                f"a search for {side} would never end: set time, depth, nodes, mate or {side}'s "
                "clock",
            )

    def _play(self, task: Task, limit: Limit, stop: Stop | None) -> PlayResult:
        """Implement `play`; the arguments are checked, and no analysis is running."""
        raise NotImplementedError

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        """Implement `analysis`; the arguments are checked, and no analysis is running."""
        raise NotImplementedError

    def _begin_task(
        self, position: Position, moves: Iterable[Move | str], root_moves: Iterable[Move | str],
        stop: Stop | None,
    ) -> Task:  # fmt: skip
        """Close a running analysis and return the next task; `InputError` for an illegal move."""
        self._end_analysis()
        if stop is not None:
            required(stop, Stop, "a Stop, whose method set() ends the search")
        played, allowed = _read_moves(moves), _read_moves(root_moves)
        root = reduce(Position.push, played, required_position(position))
        for move in allowed:
            objection = root.objection(move)
            if objection is not None:
                raise InputError(str(move), f"illegal move in root_moves, {objection}")
        return Task(position, played, root, allowed)

    def _end_analysis(self) -> None:
        """Close the analysis that may still run, since an engine runs one search at a time."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None


def _read_moves(moves: object) -> tuple[Move, ...]:
    """Return moves that are given as `Move` objects or texts."""
    if isinstance(moves, (str, Move)) or not isinstance(moves, Iterable):
        raise InputError(shown(moves), "expected a list of moves")
    return tuple(map(read_move, moves))


def required_settings(settings: object) -> Mapping[str, Value]:
    """Return an argument that must be a dict of options; `InputError` if it is not."""
    return required(settings, Mapping, "a dict of options, such as {'Hash': 64}")
