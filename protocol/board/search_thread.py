"""The board's search thread, which runs one engine search at a time.

The session derives the current `Job` from its state and calls `SearchThread.changed` after every
change. If the running job is no longer the current one, its search is stopped and its answer
dropped. The answer stays dropped even if the same job becomes current again, because the search was
cut short.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import inf
from threading import Condition, Thread
from time import monotonic
from typing import Protocol

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.search.limits import Info, Limit
from merels.protocol.board.seat import Seat
from merels.protocol.client.any_engine import Stop
from merels.protocol.client.engine import Engine
from merels.protocol.games.clock import Clock
from merels.protocol.process.errors import EngineError

STOP_SECONDS = 2.0
"""Seconds after which an engine that has not ended an unwanted search is killed."""
CLOSE_SECONDS = 8.0
"""Seconds that `SearchThread.close` waits for the thread; more than `STOP_SECONDS`."""
PAUSE_SECONDS = 0.8
"""Minimum seconds from the start of a level's search to its move, unless it has less time."""
PLAY_INFO_SECONDS = 0.04
"""Minimum seconds between two scores shown while an engine thinks about its move."""


@dataclass(frozen=True, slots=True)
class Job:
    """A search of ``position``, which ``moves`` reach from ``start``.

    ``version`` is `Seat.version`, so that a change of the engine or its level makes a new job.
    ``time`` is the seconds for a move, the game's clock, or None for an endless analysis.
    """

    seat: Seat
    version: int
    start: Position
    moves: tuple[Move, ...]
    position: Position
    time: float | Clock | None = None
    lines: int = 1
    """Number of variations of an analysis."""

    def pause(self) -> float:
        """Return the minimum seconds from start to move, because instant replies irritate users."""
        time = self.time
        if time is None or not self.seat.is_level:
            return 0.0
        seconds = time.left(self.position.side) / 50 if isinstance(time, Clock) else time
        return min(PAUSE_SECONDS, seconds)

    def limit(self) -> Limit:
        """Return the limit of a search that starts now; the clock may have been running."""
        clock = self.time
        if not isinstance(clock, Clock):
            return Limit(time=clock)
        white, black = (max(0.0, clock.left(side)) for side in (WHITE, BLACK))
        return Limit(
            white_clock=white, black_clock=black,
            white_inc=clock.increment, black_inc=clock.increment,
        )


class Board(Protocol):
    """The owner of a `SearchThread`.

    The thread calls `next_job` under its own lock. So the owner must not call the thread while it
    holds a lock that `next_job` takes.
    """

    def next_job(self) -> Job | None:
        """Return the current job, or None."""

    def on_info(self, job: Job, infos: list[Info]) -> None:
        """Handle the latest variations."""

    def on_move(self, job: Job, move: Move) -> None:
        """Handle the engine's move."""

    def on_error(self, job: Job | None, error: Exception) -> None:
        """Handle an error of a job, or with None of the board; only `changed` starts a retry."""

    def on_idle(self) -> None:
        """Handle that there is no current job, or no job any more."""


class SearchThread:
    """Runs a board's jobs, one at a time, in its own thread."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._condition = Condition()
        """Also guards stopping a search and finishing a job, so no stop reaches the next search."""
        self._changes = 0
        self._closed = False
        self._engine: Engine | None = None
        self._stop = Stop()
        """Ends the job's search."""
        self._job: Job | None = None
        self._unwanted_since: float | None = None
        """When the job was found to be unwanted (`monotonic`), or None."""
        self._last_shown = 0.0
        self._thread = Thread(target=self._run, name="board", daemon=True)

    def start(self) -> None:
        """Start the thread; from now on it calls the board."""
        self._thread.start()

    def changed(self) -> None:
        """Run the current job; call this after every change of the board's state."""
        with self._condition:
            self._changes += 1
            self._condition.notify()
        self.stop_unwanted()

    def stop_unwanted(self) -> float:
        """Stop the search if its job is unwanted; return when to call this again, or infinity.

        An engine that has not stopped after `STOP_SECONDS` is killed, because it blocks all jobs.
        """
        with self._condition:
            if self._job is not None and self._unwanted_since is None:
                if self._is_unwanted(self._job):
                    self._unwanted_since = monotonic()
                    self._condition.notify_all()
                    with suppress(EngineError):  # The search itself raises the error.
                        self._stop.set()
            if self._unwanted_since is None or self._engine is None:
                return inf
            end = self._unwanted_since + STOP_SECONDS
            if monotonic() < end:
                return end
            self._engine.kill()
            self._engine = None
            return inf

    def receive(self, direction: str, lines: bytes) -> None:
        """Show a score in an engine's output while the engine thinks about its move."""
        job, engine = self._job, self._engine
        if direction != "<" or job is None or job.time is None or engine is None:
            return
        for line in lines.split(b"\n"):
            if b" score " in line and monotonic() - self._last_shown >= PLAY_INFO_SECONDS:
                self._last_shown = monotonic()
                info = engine.connection.dialect.info(line.strip(), job.position)
                if info.score is not None and info.multipv == 1:
                    self._board.on_info(job, [info])

    def close(self) -> None:
        """Stop the running job and end the thread."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self.stop_unwanted()
        self._thread.join(STOP_SECONDS)
        self.stop_unwanted()
        self._thread.join(CLOSE_SECONDS - STOP_SECONDS)

    def _is_unwanted(self, job: Job) -> bool:
        """Return whether a job is not the current one."""
        return self._closed or self._board.next_job() != job

    def _run(self) -> None:
        while True:
            with self._condition:
                changes = self._changes
            try:
                self._run_job()
            except Exception as error:  # Retry after the next change of the state.
                self._board.on_error(None, error)
            with self._condition:
                while not self._closed and self._changes == changes:
                    self._condition.wait()
                if self._closed:
                    break
        self._board.on_idle()

    def _run_job(self) -> None:
        """Run the current job, if any."""
        job = None if self._closed else self._board.next_job()
        if job is None:
            self._board.on_idle()
            return
        with self._condition:
            self._job, self._unwanted_since, self._stop = job, None, Stop()
        try:
            self._search(job)
        except Exception as error:
            # Without a message the page would wait forever. The engine is ended, because its state
            # is unknown after an error.
            wanted = self._finish(job)
            job.seat.close()
            if wanted:
                self._board.on_error(job, error)
        finally:
            self._finish(job)

    def _search(self, job: Job) -> None:
        """Run a job's search until it ends or is stopped."""
        engine, stop = job.seat.open(), self._stop
        with self._condition:
            if self._unwanted_since is not None or self._is_unwanted(job):
                return
            self._engine = engine
        job.seat.prepare(engine, job.start.rules)
        if job.time is None:
            lines = job.lines if "MultiPV" in engine.options else 1
            with engine.analysis(
                job.start, multipv=lines, moves=job.moves, stop=stop
            ) as analysis:
                for _ in analysis:
                    self._board.on_info(job, analysis.infos)
            return
        self._last_shown = 0.0
        earliest = monotonic() + job.pause()
        result = engine.play(job.start, job.limit(), moves=job.moves, stop=stop)
        self._wait(earliest)
        if not self._finish(job):
            return
        if result.info.score is not None:
            self._board.on_info(job, [result.info])
        if result.move is None:
            raise EngineError("the engine plays no move; restart it or choose another one")
        self._board.on_move(job, result.move)

    def _wait(self, until: float) -> None:
        """Delay a move until a time (`monotonic`), or until its job is unwanted."""
        with self._condition:
            self._engine = None
            while self._unwanted_since is None and (seconds := until - monotonic()) > 0:
                self._condition.wait(seconds)

    def _finish(self, job: Job) -> bool:
        """Finish a job, so that no stop follows; return whether its answer is wanted."""
        with self._condition:
            self._job = self._engine = None
            return self._unwanted_since is None and not self._is_unwanted(job)
