"""Tasks played in a worker, and the worker's events.

A worker returns a row only for a game that it played to the end. Otherwise the game is unplayed: an
engine did not start, an exception was raised, or the worker is left out. A worker is *left out* of
an engine's games for a pause after the engine failed to start on it, see `pairs`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic, sleep
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.rows import Row, make_row
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.fingerprint import HERE
from merels.tournament.play.game import NotStarted, play_game, utc_now
from merels.tournament.play.lender import CacheLender
from merels.tournament.play.preflight import preflight
from merels.tournament.records.games import GameSpec, MoveRecord, PairTask
from merels.tournament.run.log_file import LogFile

HAND_BACK_SECONDS = 0.5
"""Seconds that a left-out worker holds a task before it returns the task for another worker."""
OCCUPIED_SECONDS = 2.0
"""Seconds that `stay_busy` keeps a left-out worker busy."""


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
    time: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True)
class Played:
    """Moves of a game in progress since the last report."""

    number: int
    reported: int
    """Number of moves reported before; 0 if the game was restarted."""
    moves: tuple[MoveRecord, ...]
    asked: int
    """Monotonic time, in nanoseconds, at which the side to move received ``go``."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A game has ended: its row in the journal."""

    row: Row
    time: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True)
class PairReport:
    """A worker's report on a task.

    Games of the task that are neither in ``games`` nor reported before are unplayed.
    """

    place: Place
    games: tuple[Finished, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    """Name of each engine that did not start or failed its trial -> text of the failure."""
    notices: tuple[str, ...] = ()
    """Notices of the trials for the user."""


def is_report(value: object, task: PairTask) -> bool:
    """Return whether a value that an executor returned is a `PairReport` on ``task``."""
    if not isinstance(value, PairReport):
        return False
    names = {game.number: (game.white.name, game.black.name) for game in task.games}
    return set(value.failures) <= task.engines and all(
        names.get(game.row.number) == (game.row.white, game.row.black) for game in value.games
    )


class Returned(NamedTuple):
    """A call has returned. The number of a call is that of its pair."""

    call: int
    value: object


class Failed(NamedTuple):
    """A call has raised an exception, or its worker has ended."""

    call: int
    error: str
    """Last line of the error."""
    is_broken: bool = False
    """Whether the worker or the executor broke."""


def not_made(call: int) -> Returned:
    """Return the event of a call that was not made, or was cancelled before it began."""
    return Returned(call, PairReport(here()))


Event = Started | Played | Finished | Returned | Failed


@dataclass(slots=True)
class Worker:
    """State of a local worker process: its running engines and its link to the runner."""

    engines: EngineCache
    report: Callable[[Started | Finished], None]
    stopping: threading.Event
    """Set when no further game is to start."""
    watch: Callable[[int, Sequence[MoveRecord]], None] | None = None
    """Called at the start of a game with its number and its list of moves, which grows."""
    log: LogFile | None = None
    """Log of the traffic with the engines, or None."""

    @contextmanager
    def logged_as(self, number: int) -> Iterator[None]:
        """Name game ``number`` in the lines of the log."""
        if self.log is None:
            yield
            return
        self.log.game = number
        try:
            yield
        finally:
            self.log.game = None

    def begin(self, number: int, moves: Sequence[MoveRecord]) -> None:
        """Report that a game has started."""
        self.report(Started(number))
        if self.watch is not None:
            self.watch(number, moves)


worker: Worker | None = None
"""State of this process if it is a local worker; None in a process of a user's executor."""
lender = CacheLender()
"""Engine caches of a process of a user's executor."""
_passed_engines: set[EngineSpec] = set()
"""The engines, without options, that passed their trial in this process."""
_last_end: float | None = None
"""Monotonic time, in seconds, at which this process ended its last game."""


def _games_of(task: PairTask, pause: Callable[[float], object]) -> Iterator[GameSpec]:
    """Yield a task's games, each when the task's pause since the previous game has passed."""
    global _last_end
    for spec in task.games:
        if _last_end is not None:
            pause(max(0.0, _last_end + task.pause - monotonic()))
        try:
            yield spec
        finally:
            _last_end = monotonic()


def here() -> Place:
    """Return the place of this process."""
    return Place(HERE.host, os.getpid())


def play_pair(
    task: PairTask, left_out: frozenset[Place] = frozenset(), number: int = 0
) -> PairReport:
    """Play a task's games until one cannot be started.

    A process in ``left_out`` returns the task unplayed after `HAND_BACK_SECONDS`. ``number`` is
    different for each call, because Dask answers equal calls from its cache.
    """
    if worker is None:
        return _play_elsewhere(task, left_out)
    for spec in _games_of(task, worker.stopping.wait):
        if worker.stopping.is_set():
            break
        begin = partial(worker.begin, spec.number)
        try:
            with worker.logged_as(spec.number):
                game = Finished(make_row(play_game(spec, worker.engines, begin)))
        except NotStarted as error:
            return PairReport(here(), failures=error.failures)
        if spec is task.games[-1]:
            return PairReport(here(), (game,))
        worker.report(game)
    return PairReport(here())


def _play_elsewhere(task: PairTask, left_out: frozenset[Place]) -> PairReport:
    """Play a task in a process of a user's executor; `lender` keeps the engines for later."""
    if here() in left_out:
        sleep(HAND_BACK_SECONDS)
        return PairReport(here())
    failures, notices = _try_engines(task.games[0])
    if failures:
        return PairReport(here(), failures=failures)
    games = []
    with lender.lend() as engines:
        for spec in _games_of(task, sleep):
            try:
                games.append(Finished(make_row(play_game(spec, engines))))
            except NotStarted as error:
                return PairReport(here(), tuple(games), error.failures, notices)
    return PairReport(here(), tuple(games), notices=notices)


def _try_engines(spec: GameSpec) -> tuple[dict[str, str], tuple[str, ...]]:
    """Try the engines of a game that have not passed a trial in this process.

    Return the failure of each engine that cannot play, by its name, and the notices of the trials.
    """
    failures: dict[str, str] = {}
    notices: list[str] = []
    for entrant in (spec.white, spec.black):
        program = replace(entrant.engine, options=())
        if program in _passed_engines:
            continue
        try:
            notices += preflight([entrant], spec.rules, spec.opening).notices
            _passed_engines.add(program)
        except InputError as error:
            key = error.token.removeprefix(f"-engine {entrant.name}").strip()
            fault, _, cause = f"{key} {error.expected}".strip().partition(": ")
            failures[entrant.name] = f"{fault} ({cause})" if cause else fault
    return failures, tuple(notices)


def stay_busy(places: frozenset[Place], number: int) -> None:
    """Sleep for `OCCUPIED_SECONDS` if this process is in ``places``, so that it takes no task."""
    if here() in places:
        sleep(OCCUPIED_SECONDS)
