"""The board's own thread: at any time it does the one thing that the game now asks of an engine.

What that is follows from the session's state alone. Whoever changes the state calls `changed`; a
search that does not fit any more is stopped, and its answer dropped: it was cut short, so that is
also done if by then the very same is wanted again, and begun anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic

from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.protocol.board.engines import Seat
from merels.protocol.board.game import Clock
from merels.protocol.client.analysis import Analysis
from merels.protocol.client.engine import Engine, EngineError, Info, Limit

LINES = 3
"""Variations that an analysis shows."""
STOP_SECONDS = 2.0
"""What an engine has to end a search that is not wanted any more; then it is killed."""
CLOSE_SECONDS = 5.0
"""What the thread has to end, more than the slowest engine has to stop."""
PLAY_INFO_SECONDS = 0.04
"""The least time between two scores read while an engine thinks about its own move."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something for an engine to do in the position that ``moves`` lead to from ``start``.

    ``version`` is the seat's: another engine or other settings make it another job.

    ``time`` is the seconds for a move, or the clock of the game; without it this is an analysis,
    which ends only when the state changes.
    """

    seat: Seat
    version: int
    start: Position
    moves: tuple[Move, ...]
    position: Position
    time: float | Clock | None = None

    def limit(self) -> Limit:
        """What the engine may spend on its move if it begins now: its clock may run already."""
        clock = self.time
        if not isinstance(clock, Clock):
            return Limit(time=clock)
        white, black = (max(0.0, clock.left(side)) for side in (WHITE, BLACK))
        return Limit(
            white_clock=white, black_clock=black,
            white_inc=clock.increment, black_inc=clock.increment,
        )


class Thinker:
    """Runs jobs, one at a time, in a thread of its own.

    ``next_job`` says what to do now, None: nothing. ``on_info`` gets the variations so far,
    ``on_move`` a played move, ``on_error`` what went wrong; a job that failed is not begun again
    before `changed`. ``on_idle`` is called when there is nothing to do. All are called without a
    lock held here.
    """

    def __init__(
        self,
        next_job: Callable[[], Job | None],
        on_info: Callable[[Job, list[Info]], None],
        on_move: Callable[[Job, Move], None],
        on_error: Callable[[Job, str], None],
        on_idle: Callable[[], None],
    ) -> None:
        self._next_job = next_job
        self._on_info = on_info
        self._on_move = on_move
        self._on_error = on_error
        self._on_idle = on_idle
        self._woken = Condition()
        """Also held to stop a search and to end a job: no stop meets the search that follows."""
        self._version = 0
        self._closed = False
        self._engine: Engine | None = None
        self._analysis: Analysis | None = None
        self._job: Job | None = None
        self._stopped: float | None = None
        """When the job was first found to be unwanted, if it was."""
        self._last_look = 0.0
        self._thread = Thread(target=self._run, name="board", daemon=True)

    def start(self) -> None:
        """Begin, once all that is called from here is in its place."""
        self._thread.start()

    def changed(self) -> None:
        """The state has changed: what runs is stopped if it is not what is wanted now."""
        with self._woken:
            self._version += 1
            self._woken.notify()
        self.nudge()

    def nudge(self) -> None:
        """Stop a search that does not fit any more; called again until it has ended.

        Once found unwanted it stays so. The first stop may have come before the search began. An
        engine that goes on nevertheless is killed: it would hold up whatever else is to be done.
        """
        with self._woken:
            job, engine, now = self._job, self._engine, monotonic()
            if job is None or (self._stopped is None and not self._stale(job)):
                return
            if self._stopped is None:
                self._stopped = now
            if engine is None:
                return
            try:
                if now - self._stopped > STOP_SECONDS:
                    engine.kill()
                elif self._analysis is not None:
                    self._analysis.stop()
                else:
                    engine.interrupt()
            except (EngineError, OSError, ValueError):
                pass  # It has gone; the thread that reads from it says so.

    def heard(self, line: bytes) -> None:
        """A line that an engine wrote; while it thinks about its move its scores are shown."""
        job, engine = self._job, self._engine
        if job is None or job.time is None or engine is None or b" score " not in line:
            return
        now = monotonic()
        if now - self._last_look >= PLAY_INFO_SECONDS:
            self._last_look = now
            info = engine.dialect.info(line.strip(), job.position)
            if info.score is not None and info.multipv == 1:
                self._on_info(job, [info])

    def close(self) -> None:
        """Stop what runs and end the thread."""
        with self._woken:
            self._closed = True
            self._woken.notify()
        deadline = monotonic() + CLOSE_SECONDS
        while self._thread.is_alive() and monotonic() < deadline:
            self.nudge()
            self._thread.join(0.05)

    def _stale(self, job: Job) -> bool:
        """Whether a job is not what is wanted now."""
        return self._closed or self._next_job() != job

    def _run(self) -> None:
        while True:
            with self._woken:
                version = self._version
            job = None if self._closed else self._next_job()
            if job is None:
                self._on_idle()
            else:
                with self._woken:
                    self._job, self._stopped = job, None
                try:
                    with job.seat.in_use:
                        self._do(job)
                except Exception as error:
                    # Whatever it was: a page that waits for ever would say less. An engine that
                    # failed is not trusted with the next job.
                    wanted = self._end(job)
                    job.seat.close()
                    if wanted:
                        self._on_error(job, str(error))
                finally:
                    self._end(job)
            with self._woken:
                while not self._closed and self._version == version:
                    self._woken.wait()
                if self._closed:
                    return

    def _do(self, job: Job) -> None:
        """Let the engine do a job, to its end or until it is not wanted any more."""
        engine = job.seat.open()
        with self._woken:
            if self._stopped is not None:
                return
            self._engine = engine
        job.seat.prepare(engine, job.start.rules)
        if job.time is None:
            lines = LINES if "MultiPV" in engine.options else 1
            with engine.analysis(job.start, multipv=lines, moves=job.moves) as analysis:
                self._analysis = analysis
                self.nudge()
                for _ in analysis:
                    self._on_info(job, analysis.infos)
            return
        self._last_look = 0.0
        result = engine.play(job.start, job.limit(), moves=job.moves)
        if not self._end(job):
            return
        if result.info.score is not None:
            self._on_info(job, [result.info])
        if result.move is None:
            raise EngineError("the engine plays no move")
        self._on_move(job, result.move)

    def _end(self, job: Job) -> bool:
        """Let no stop for a job come any more; whether none has, and none would."""
        with self._woken:
            self._job = self._engine = self._analysis = None
            return self._stopped is None and not self._stale(job)
