"""What every engine can be asked for, be it another process or this very one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Self, overload

from merels.engine.errors import InputError
from merels.engine.position import COLOURS, Position, Turn
from merels.protocol.analysis import Analysis
from merels.protocol.errors import EngineError
from merels.protocol.scores import Info


@dataclass(frozen=True, slots=True)
class Limit:
    """What a search may spend: it ends at the first limit reached. All times are in seconds.

    ``mate`` asks for a win in so many own moves (plies in UGI); ``remaining_moves`` are those to
    the next time control.
    """

    time: float | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    white_clock: float | None = None
    black_clock: float | None = None
    white_inc: float | None = None
    black_inc: float | None = None
    remaining_moves: int | None = None


def ends(limit: Limit, side: int) -> bool:
    """Whether a limit ever ends a search for the side to move: increments alone do not."""
    clock = (limit.white_clock, limit.black_clock)[side]
    bounds = (limit.time, limit.depth, limit.nodes, limit.mate, clock)
    return any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True)
class PlayResult:
    """An engine's choice; ``turn`` is None where it says that there is none."""

    turn: Turn | None
    ponder: Turn | None
    info: Info


class Task(NamedTuple):
    """A search of the position that ``turns`` lead to from ``start``; all are known to be legal."""

    start: Position
    turns: Sequence[Turn]
    position: Position
    root_turns: Sequence[Turn]


class AnyEngine:
    """One search at a time: what asks for another, or closes the engine, ends the one before.

    It is a context manager that closes the engine. One thread may use it at a time; `interrupt`
    and `Analysis.stop` alone are free for others.
    """

    name = ""
    _analysis: Analysis | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the engine."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Ask a search that another thread waits for to end now; free for any thread."""
        raise NotImplementedError

    def play(
        self,
        position: Position,
        limit: Limit,
        *,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> PlayResult:
        """The engine's turn in the position that ``turns`` lead to from ``position``.

        Giving the turns lets the engine see what may recur; an illegal one raises `InputError`.
        ``root_turns`` are the only ones to choose from. An engine that answers with an illegal
        turn, or with another, raises `EngineError`; one that has not answered `Engine.timeout`
        seconds after its time limit is stopped and raises `EngineTimeout`. A limit that never
        ends the search raises `EngineError`; none at all is a foreign engine's own affair.
        """
        task = self._task(position, turns, root_turns)
        self._check_end(task, limit)
        return self._play(task, limit)

    @overload
    def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: None = None,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> Info: ...

    @overload
    def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: int,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> list[Info]: ...

    def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: int | None = None,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> Info | list[Info]:
        """What the engine thinks of a position once the limit is reached.

        With ``multipv`` a list of the best variations, otherwise the best one. Arguments and
        errors are those of `play`.
        """
        task = self._task(position, turns, root_turns)
        self._check_end(task, limit)
        with self._begin(task, limit, multipv) as analysis:
            analysis.wait()
        return analysis.info if multipv is None else analysis.infos

    def analysis(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> Analysis:
        """Start an analysis, endless without a limit, and return the stream of its `Info`."""
        return self._begin(self._task(position, turns, root_turns), limit, multipv)

    def _begin(self, task: Task, limit: Limit | None, multipv: int | None) -> Analysis:
        """`analysis`, with its arguments made ready."""
        self._analysis = self._analyse(task, limit, multipv or 1)
        return self._analysis

    def _check_end(self, task: Task, limit: Limit) -> None:
        """Refuse a limit that never ends the search."""
        if not ends(limit, task.position.side):
            side = COLOURS[task.position.side]
            needed = f"time, depth, nodes, mate or {side}'s clock"
            raise EngineError(f"a search for {side} would never end: set a limit of {needed}")

    def _play(self, task: Task, limit: Limit) -> PlayResult:
        """`play`, with its arguments made ready and no analysis running."""
        raise NotImplementedError

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        """`analysis`, likewise."""
        raise NotImplementedError

    def _task(
        self, position: Position, turns: Iterable[Turn], root_turns: Sequence[Turn]
    ) -> Task:
        self._end_analysis()
        played = tuple(turns)
        there = reduce(Position.push, played, position)
        for turn in root_turns:
            objection = there.objection(turn)
            if objection is not None:
                raise InputError(str(turn), f"illegal turn to choose from, {objection}")
        return Task(position, played, there, root_turns)

    def _end_analysis(self) -> None:
        """Stop an analysis that still runs: an engine does one thing at a time."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None


def milliseconds(seconds: float | None) -> int | None:
    """A time in whole milliseconds, as the protocol and the search take it."""
    return None if seconds is None else round(seconds * 1000)


def thinking_time(limit: Limit) -> int | None:
    """The limit's time for this search in milliseconds, never 0: that is no time at all."""
    time = milliseconds(limit.time)
    return None if time is None else max(1, time)
