"""Playing a task in a worker, and what the worker reports of it.

Only a worker that played a game to its end returns a row for it. Whatever else happens - an engine
does not start, the worker is to play nothing, an exception - leaves the game unplayed.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from time import monotonic, sleep
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import GameStarted, NotStarted, play_game
from merels.tournament.play.lender import CacheLender
from merels.tournament.play.preflight import preflight
from merels.tournament.records.games import GameResult, GameSpec, MoveRecord, PairTask

HAND_BACK_SECONDS = 0.5
"""How long a worker keeps a task that it must not play: others are to get it first."""
OCCUPIED_SECONDS = 2.0
"""How long a call keeps a worker busy that must not play."""


class Place(NamedTuple):
    """A worker process of an executor."""

    host: str
    process: int

    def __str__(self) -> str:
        return f"{self.host} (process {self.process})"


@dataclass(frozen=True, slots=True)
class Started:
    """A game has started: both engines are ready."""

    number: int


@dataclass(frozen=True, slots=True)
class Played:
    """Moves of a game in progress since the last report."""

    number: int
    told: int
    """Number of its moves reported before; 0 if the game was restarted."""
    moves: tuple[MoveRecord, ...]
    asked: int
    """The monotonic time, in nanoseconds, at which the side to move was asked."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A game has ended: its row in the journal."""

    row: Row


@dataclass(frozen=True, slots=True)
class PairReport:
    """A worker's report on a task.

    Games of the task that are neither in ``games`` nor reported before were not played.
    """

    place: Place
    games: tuple[Finished, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    """By the names of the engines that did not start, or failed their trial: what they did."""


def is_report(value: object, task: PairTask) -> bool:
    """Whether a value, which an executor returned, is the report of a worker on a task."""
    if not isinstance(value, PairReport):
        return False
    names = {game.number: (game.white.name, game.black.name) for game in task.games}
    return set(value.failures) <= {name for pair in names.values() for name in pair} and all(
        names.get(game.row.number) == (game.row.white, game.row.black) for game in value.games
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """Result of trying all engines in a worker; ``refusal`` is the fault of one."""

    place: Place
    notices: Sequence[str] = ()
    refusal: InputError | None = None
    handed_back: bool = False
    """Whether nothing was tried, since the worker was not to."""


@dataclass(slots=True)
class Worker:
    """Shared by the tasks of a local worker process: running engines, and reports."""

    engines: EngineCache
    report: Callable[[Started | Finished], None]
    stopping: threading.Event
    """Set to leave out the games that have not started."""
    watch: Callable[[int, Sequence[MoveRecord]], None] | None = None
    """Takes the number and the growing list of moves of a game that starts, to report them."""

    def begin(self, number: int, moves: Sequence[MoveRecord]) -> None:
        """Report that a game has started."""
        self.report(Started(number))
        if self.watch is not None:
            self.watch(number, moves)


worker: Worker | None = None
"""Set in a local worker process; None in the processes of any other executor."""
lender = CacheLender()
"""Lends the engines of a process that is no local worker."""
_sound: set[EngineSpec] = set()
"""The engines, without options, that have been tried in this process and played a move."""


_last_end: float | None = None
"""When this process ended its last game, by the monotonic clock."""


def _games_of(task: PairTask, pause: Callable[[float], object]) -> Iterator[GameSpec]:
    """A task's games, each after the task's pause since this process ended the one before."""
    global _last_end
    for spec in task.games:
        if _last_end is not None:
            pause(max(0.0, _last_end + task.pause - monotonic()))
        yield spec
        _last_end = monotonic()


@lru_cache(maxsize=1)
def _host() -> str:
    return socket.gethostname()


def here() -> Place:
    """This process as a place to play."""
    return Place(_host(), os.getpid())


def play_pair(
    task: PairTask, left_out: frozenset[Place] = frozenset(), number: int = 0
) -> PairReport:
    """Play a task's games until one cannot be started.

    A process that is in ``left_out`` hands the task back after a while. ``number`` is the call's:
    no two calls through an executor are equal.
    """
    if worker is None:
        return _play_elsewhere(task, left_out)
    for spec in _games_of(task, worker.stopping.wait):
        if worker.stopping.is_set():
            break
        begun = partial(worker.begin, spec.number)
        try:
            result = play_until_valid(spec, worker.engines, begun)
        except NotStarted as error:
            return PairReport(here(), failures=error.failures)
        worker.report(Finished(make_row(result)))
    return PairReport(here())


def _play_elsewhere(task: PairTask, left_out: frozenset[Place]) -> PairReport:
    """`play_pair` in a process of a user's executor, which keeps its engines for a while."""
    if here() in left_out:
        sleep(HAND_BACK_SECONDS)
        return PairReport(here())
    if failures := _try_engines(task.games[0]):
        return PairReport(here(), failures=failures)
    games = []
    with lender.lend() as engines:
        for spec in _games_of(task, sleep):
            try:
                games.append(Finished(make_row(play_until_valid(spec, engines))))
            except NotStarted as error:
                return PairReport(here(), tuple(games), error.failures)
    return PairReport(here(), tuple(games))


def _try_engines(spec: GameSpec) -> dict[str, str]:
    """Try the engines of a game that this process has not tried; returns what is wrong with them.
    """
    failures = {}
    for entrant in (spec.white, spec.black):
        program = replace(entrant.engine, options=())
        if program in _sound:
            continue
        try:
            preflight([entrant], [entrant.name], spec.rules, spec.opening)
            _sound.add(program)
        except InputError as error:
            what, _, why = error.expected.partition(": ")
            failures[entrant.name] = f"{what} ({why})" if why else what
    return failures


def try_all(
    trial: Callable[[], list[str]], left_out: frozenset[Place], number: int = 0
) -> Tried:
    """Call a trial of all engines, unless this process is to do nothing."""
    if here() in left_out:
        sleep(HAND_BACK_SECONDS)
        return Tried(here(), handed_back=True)
    try:
        return Tried(here(), trial())
    except InputError as error:
        return Tried(here(), refusal=error)


def stay_busy(places: frozenset[Place], number: int) -> None:
    """Keep this process busy for a while if it is one of these, so that it takes no task."""
    if here() in places:
        sleep(OCCUPIED_SECONDS)


def play_until_valid(
    spec: GameSpec, engines: EngineCache, begun: GameStarted | None = None
) -> GameResult:
    """Play a game, and again where an attempt is void: a loss on time that is no engine's fault.

    After the `replays` of the game the last attempt stands.
    """
    voided: list[str] = []
    while True:
        result = play_game(spec, engines, begun)
        if len(voided) == spec.replays or result.overtime is None or not result.overtime.excused:
            return replace(result, voided=tuple(voided))
        voided.append(f"{result.reason}; {result.overtime.excuse}")
