"""Tasks played in a worker, and the worker's events.

A worker returns a row only for a game that it played to the end. Otherwise the game is unplayed: an
engine did not start, or an exception was raised. After an engine failed to start, a process of a
user's executor returns its games unplayed during a pause, so that other workers play them.
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
from merels.tournament.play.fingerprint import THIS_ORIGIN
from merels.tournament.play.game import NotStarted, play_game, utc_now
from merels.tournament.play.lender import CacheLender
from merels.tournament.play.preflight import preflight
from merels.tournament.records.games import GameSpec, MoveRecord, PairTask
from merels.tournament.run.log_file import LogFile

MAX_FAILURES = 5
"""Failures in a row after which an engine, or the pool of workers, is given up.

The pauses between them add up to 15 s."""
PAUSE_SECONDS = 1.0
"""Pause after the first failure, in seconds; each further failure doubles the pause."""
MAX_PAUSE = 300.0
"""Longest pause, in seconds."""
HAND_BACK_SECONDS = 0.5
"""Seconds that a worker holds a task of a paused engine before it returns the task unplayed."""
OCCUPIED_SECONDS = 2.0
"""Seconds that `stay_busy` keeps a worker with a paused engine busy."""


@dataclass(slots=True)
class Backoff:
    """Pauses that double with each failure, from `PAUSE_SECONDS`."""

    failures: int = 0
    """Number of failures in a row; one during a pause does not count, as it began earlier."""
    until: float = 0.0
    """Monotonic time, in seconds, at which the pause ends."""

    def fail(self) -> bool:
        """Begin a pause and return True; during a pause, return False."""
        now = monotonic()
        if now < self.until:
            return False
        self.until = now + min(MAX_PAUSE, PAUSE_SECONDS * 2**self.failures)
        self.failures += 1
        return True

    @property
    def is_paused(self) -> bool:
        return monotonic() < self.until

    @property
    def is_exhausted(self) -> bool:
        return self.failures >= MAX_FAILURES


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
    """Number of moves reported before; 0 for the first report of each attempt to play the game."""
    moves: tuple[MoveRecord, ...]
    go_time: int
    """Monotonic time, in nanoseconds, at which the side to move was sent ``go``."""


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

    @property
    def is_unplayed(self) -> bool:
        """Whether the worker only returned the task, because an engine is paused there."""
        return not self.games and not self.failures


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
    return Returned(call, PairReport(this_place()))


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
_pauses: dict[EngineSpec, Backoff] = {}
"""The engines, without options, that failed in this process and have not played since."""
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


def this_place() -> Place:
    """Return the place of this process."""
    return Place(THIS_ORIGIN.host, os.getpid())


def play_pair(task: PairTask, number: int = 0) -> PairReport:
    """Play a task's games until one cannot be started.

    ``number`` is different for each call, because Dask answers equal calls from its cache.
    """
    if worker is None:
        return _play_elsewhere(task)
    for spec in _games_of(task, worker.stopping.wait):
        if worker.stopping.is_set():
            break
        begin = partial(worker.begin, spec.number)
        try:
            with worker.logged_as(spec.number):
                game = Finished(make_row(play_game(spec, worker.engines, begin)))
        except NotStarted as error:
            return PairReport(this_place(), failures=error.failures)
        if spec is task.games[-1]:
            return PairReport(this_place(), (game,))
        worker.report(game)
    return PairReport(this_place())


def _play_elsewhere(task: PairTask) -> PairReport:
    """Play a task in a process of a user's executor; `lender` keeps the engines for later.

    Return it unplayed after `HAND_BACK_SECONDS` if one of its engines is paused here.
    """
    programs = {
        entrant.name: replace(entrant.engine, options=())
        for entrant in (task.games[0].white, task.games[0].black)
    }
    if any(_pauses[key].is_paused for key in programs.values() if key in _pauses):
        sleep(HAND_BACK_SECONDS)
        return PairReport(this_place())
    failures, notices = _try_engines(task.games[0])
    games: list[Finished] = []
    if not failures:
        with lender.lend() as engines:
            for spec in _games_of(task, sleep):
                try:
                    games.append(Finished(make_row(play_game(spec, engines))))
                except NotStarted as error:
                    failures = error.failures
                    break
    if games:
        for key in programs.values():
            _pauses.pop(key, None)
    counted = {  # A call that began before a pause does not count.
        name: text for name, text in failures.items()
        if _pauses.setdefault(programs[name], Backoff()).fail()
    }
    return PairReport(this_place(), tuple(games), counted, notices)


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
            # For example "-engine A" and "does not start: exit code 1" become "does not start (exit
            # code 1)"; the notice of the runner names the engine.
            key = error.token.removeprefix(f"-engine {entrant.name}").strip()
            fault, _, cause = f"{key} {error.expected}".strip().partition(": ")
            failures[entrant.name] = f"{fault} ({cause})" if cause else fault
    return failures, tuple(notices)


def stay_busy(number: int) -> None:
    """Sleep for `OCCUPIED_SECONDS` if an engine is paused in this process.

    An executor may give the only task that is left to the same worker again and again; while the
    worker sleeps, another one takes the task. ``number`` is as in `play_pair`.
    """
    if any(pause.is_paused for pause in _pauses.values()):
        sleep(OCCUPIED_SECONDS)
