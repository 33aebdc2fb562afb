"""The board's thread, which always does the one job that the session now has for an engine.

The job is a function of the session's state, and a change of state calls `changed`. A search that
is not wanted any more is stopped and its answer dropped, even if the same search is wanted again by
then: its answer was cut short.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic
from typing import Protocol

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.search.limits import Info, Limit
from merels.protocol.board.seat import Seat
from merels.protocol.client.any_engine import Call
from merels.protocol.client.engine import Engine
from merels.protocol.games.clock import Clock
from merels.protocol.process.errors import EngineError

STOP_SECONDS = 2.0
"""The time an engine has to end an unwanted search; then it is killed."""
CLOSE_SECONDS = 5.0
"""The time the thread has to end; more than an engine has to stop."""
PAUSE_SECONDS = 0.8
"""How long a level seems to think, unless it has less time."""
PLAY_INFO_SECONDS = 0.04
"""The least time between two scores shown while an engine thinks about its move."""


@dataclass(frozen=True, slots=True)
class Job:
    """A search of the position that ``moves`` lead to from ``start``.

    ``version`` is the seat's: another engine or other options make another job. ``time`` is the
    seconds for a move, or the game's clock; with None it is an analysis, which ends only when the
    state changes.
    """

    seat: Seat
    version: int
    start: Position
    moves: tuple[Move, ...]
    position: Position
    time: float | Clock | None = None
    lines: int = 1
    """The variations of an analysis."""

    def pause(self) -> float:
        """The least seconds before the move is played: a level finds its own in an instant."""
        clock = self.time
        if clock is None or not self.seat.is_level:
            return 0.0
        fair = clock.left(self.position.side) / 50 if isinstance(clock, Clock) else clock
        return min(PAUSE_SECONDS, fair)

    def limit(self) -> Limit:
        """The limit of a search that begins now, perhaps after the clock has started."""
        clock = self.time
        if not isinstance(clock, Clock):
            return Limit(time=clock)
        white, black = (max(0.0, clock.left(side)) for side in (WHITE, BLACK))
        return Limit(
            white_clock=white, black_clock=black,
            white_inc=clock.increment, black_inc=clock.increment,
        )


class Board(Protocol):
    """The owner of a `SearchThread`, which holds no lock when it calls these."""

    def next_job(self) -> Job | None:
        """Return the job to do now."""

    def on_info(self, job: Job, infos: list[Info]) -> None:
        """Take the variations so far."""

    def on_move(self, job: Job, move: Move) -> None:
        """Take the engine's move."""

    def on_error(self, job: Job | None, error: Exception) -> None:
        """Take an error; its job is not tried again before `SearchThread.changed`."""

    def on_idle(self) -> None:
        """Notice that there is no job."""


class SearchThread:
    """Runs a board's jobs, one at a time, in a thread of its own."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._woken = Condition()
        """Also held to stop a search and to end a job, so that no stop reaches the next search."""
        self._version = 0
        self._closed = False
        self._engine: Engine | None = None
        self._call: Call | None = None
        """The engine's searches for the job."""
        self._job: Job | None = None
        self._stopped: float | None = None
        """When the job was first found unwanted, if ever."""
        self._last_look = 0.0
        self._thread = Thread(target=self._run, name="board", daemon=True)

    def start(self) -> None:
        """Start the thread, once the board can be called."""
        self._thread.start()

    def changed(self) -> None:
        """Follow a change of state: stop the running job if it is not wanted any more."""
        with self._woken:
            self._version += 1
            self._woken.notify()
        self.nudge()

    def nudge(self) -> None:
        """Stop a search that is not wanted any more; called several times a second.

        Once unwanted, it stays so. An engine that goes on is killed, or it would hold up the rest.
        """
        with self._woken:
            job, now = self._job, monotonic()
            if job is None:
                return
            if self._stopped is None:
                if not self._stale(job):
                    return
                self._stopped = now
                self._woken.notify_all()
                if self._call is not None:
                    with suppress(EngineError):  # The thread that reads from it reports its end.
                        self._call.interrupt()
            elif now - self._stopped > STOP_SECONDS and self._engine is not None:
                self._engine.kill()

    def receive(self, line: bytes) -> None:
        """Take a line from an engine: while it thinks about its move, its scores are shown."""
        job, engine = self._job, self._engine
        if job is None or job.time is None or engine is None or b" score " not in line:
            return
        now = monotonic()
        if now - self._last_look >= PLAY_INFO_SECONDS:
            self._last_look = now
            info = engine.connection.dialect.info(line.strip(), job.position)
            if info.score is not None and info.multipv == 1:
                self._board.on_info(job, [info])

    def close(self) -> None:
        """Stop the running job and end the thread."""
        with self._woken:
            self._closed = True
            self._woken.notify()
        deadline = monotonic() + CLOSE_SECONDS
        while self._thread.is_alive() and monotonic() < deadline:
            self.nudge()
            self._thread.join(0.05)

    def _stale(self, job: Job) -> bool:
        """Whether a job is not wanted now."""
        return self._closed or self._board.next_job() != job

    def _run(self) -> None:
        while True:
            with self._woken:
                version = self._version
            try:
                self._work()
            except Exception as error:  # The next change of the state is another attempt.
                self._board.on_error(None, error)
            with self._woken:
                while not self._closed and self._version == version:
                    self._woken.wait()
                if self._closed:
                    return

    def _work(self) -> None:
        """Do the job that there is now, if any."""
        job = None if self._closed else self._board.next_job()
        if job is None:
            self._board.on_idle()
            return
        with self._woken:
            self._job, self._stopped = job, None
        try:
            with job.seat.in_use:
                self._do(job)
        except Exception as error:
            # Any error is shown, or the page would wait forever, and the engine restarted.
            wanted = self._end(job)
            job.seat.close()
            if wanted:
                self._board.on_error(job, error)
        finally:
            self._end(job)

    def _do(self, job: Job) -> None:
        """Have the engine do a job, until it is done or unwanted."""
        engine = job.seat.open()
        with engine.call() as call:
            with self._woken:
                if self._stopped is not None:
                    return
                self._engine, self._call = engine, call
            job.seat.prepare(engine, job.start.rules)
            if job.time is None:
                lines = job.lines if "MultiPV" in engine.options else 1
                with engine.analysis(job.start, multipv=lines, moves=job.moves) as analysis:
                    for _ in analysis:
                        self._board.on_info(job, analysis.infos)
                return
            self._last_look = 0.0
            seen = monotonic() + job.pause()
            result = engine.play(job.start, job.limit(), moves=job.moves)
        self._wait(seen)
        if not self._end(job):
            return
        if result.info.score is not None:
            self._board.on_info(job, [result.info])
        if result.move is None:
            raise EngineError("the engine plays no move")
        self._board.on_move(job, result.move)

    def _wait(self, until: float) -> None:
        """Wait with a move that is found, unless it is not wanted any more."""
        with self._woken:
            self._engine = self._call = None
            while self._stopped is None and (left := until - monotonic()) > 0:
                self._woken.wait(left)

    def _end(self, job: Job) -> bool:
        """End a job, so that no stop comes any more; whether it was wanted to the end."""
        with self._woken:
            self._job = self._engine = self._call = None
            return self._stopped is None and not self._stale(job)
