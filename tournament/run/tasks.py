"""Playing a task in a worker, and what the worker says about its games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from merels.tournament.journal.rows import Row, make_row
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import Watch, play_game
from merels.tournament.records.games import GameResult, GameSpec, MoveRecord, PairTask


@dataclass(frozen=True, slots=True)
class Started:
    """A game has begun."""

    number: int


@dataclass(frozen=True, slots=True)
class Played:
    """What has been played of a game in progress since it was last told."""

    number: int
    told: int
    """How many of its moves were told before: 0 also where it has begun anew."""
    moves: tuple[MoveRecord, ...]
    asked: int
    """The monotonic time, in nanoseconds, at which the side to move was asked."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A game has ended: its row in the journal, and what the journal does not keep."""

    row: Row
    unstarted: tuple[str, ...] = ()
    """The names of the engines that did not start for it."""


def finished(result: GameResult) -> Finished:
    """What a worker says about a finished game."""
    names = (result.spec.white.name, result.spec.black.name)
    return Finished(make_row(result), tuple(names[side] for side in result.unstarted))


@dataclass(slots=True)
class Worker:
    """What a local worker process lends to its tasks: running engines, and a way to report."""

    engines: EngineCache
    report: Callable[[Started | Finished], None]
    stopping: Callable[[], bool]
    """Whether to leave out the games that have not begun."""
    watch: Callable[[int, Sequence[MoveRecord]], None] | None = None
    """Takes the number and the growing list of moves of a game that begins, to tell of it."""


worker: Worker | None = None
"""Set in a local worker process; None in the processes of any other executor."""


def play_pair(task: PairTask) -> list[Finished]:
    """Play a task's games; returns those that were not reported."""
    if worker is None:  # On a foreign executor no engine outlives its task, nor the tournament.
        with EngineCache() as engines:
            return [finished(play_until_valid(spec, engines)) for spec in task.games]
    for spec in task.games:
        if worker.stopping():
            break
        worker.report(Started(spec.number))
        watch = None if worker.watch is None else partial(worker.watch, spec.number)
        worker.report(finished(play_until_valid(spec, worker.engines, watch)))
    return []


def play_until_valid(
    spec: GameSpec, engines: EngineCache, watch: Watch | None = None
) -> GameResult:
    """Play a game, and again where an attempt is void: a loss on time that is no engine's fault.

    After the `replays` of the game the last attempt stands.
    """
    voided: list[str] = []
    while True:
        result = play_game(spec, engines, watch)
        if len(voided) == spec.replays or result.overtime is None or not result.overtime.excused:
            return replace(result, voided=tuple(voided))
        voided.append(f"{result.reason}; {result.overtime.excuse}")
