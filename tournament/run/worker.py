"""A worker process of the runner, which plays one pair of games at a time.

The worker receives calls from its connection, and sends events. End of input means that the runner
has ended: the worker then exits at once, even during a game, and the guardian process kills its
engines.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from merels.engine.common.errors import InputError
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.records.games import MoveRecord
from merels.tournament.run import tasks
from merels.tournament.run.log_file import LogFile
from merels.tournament.run.tasks import Event, Failed, Played, Returned

FINISH = "finish"
"""Request to start no game after the current one."""
QUIT = "quit"
"""Request to start no game after the current one, and then to exit."""
REPORT_SECONDS = 0.2
"""Seconds between a worker's reports of moves, if a view needs them."""


class LiveReporter:
    """Reports the moves of the game in progress from its own thread, so that play never waits."""

    def __init__(self, report: Callable[[Event], None]) -> None:
        self._report = report
        self._game: tuple[int, Sequence[MoveRecord], int] | None = None
        """Number of the game, its moves, and the time of its first request in nanoseconds."""
        threading.Thread(target=self._report_moves, daemon=True).start()

    def watch(self, number: int, moves: Sequence[MoveRecord]) -> None:
        """Switch to this game, whose first move is requested now; ``moves`` grows during play."""
        self._game = number, moves, time.monotonic_ns()

    def _report_moves(self) -> None:
        """Report new moves every `REPORT_SECONDS` until the runner has ended."""
        game, reported, go_time = None, 0, 0
        with contextlib.suppress(OSError):
            while True:
                time.sleep(REPORT_SECONDS)
                if (current := self._game) is None:
                    continue
                number, moves, start = current
                if game is not current:
                    game, reported, go_time = current, 0, start
                elif len(moves) == reported:
                    continue
                new = tuple(moves[reported:])
                # The sum leaves out the worker's time between moves, which is too short to notice.
                go_time += sum(move.elapsed for move in new)
                self._report(Played(number, reported, new, go_time))
                reported += len(new)


class _Link:
    """The connection to the runner; threads may send at the same time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self.calls: queue.SimpleQueue[tuple[int, Callable[..., object], Sequence[Any]] | None]
        self.calls = queue.SimpleQueue()
        """The next call, or None to exit."""
        self.stopping = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, event: Event) -> None:
        with self._sending:
            self._connection.send(event)

    def _listen(self) -> None:
        """Receive requests while games are played; exit when the runner has ended."""
        try:
            while True:
                request = self._connection.recv()
                if request in (FINISH, QUIT):
                    self.stopping.set()
                    if request == QUIT:
                        self.calls.put(None)
                else:
                    self.calls.put(request)
        finally:
            os._exit(1)


def main(
    connection: Connection, cpus: Sequence[int], log: str | None, watched: bool
) -> None:
    """Serve calls until the runner asks the worker to quit.

    ``cpus``: the cores of the process; empty: any. ``log``: file for the traffic with the engines,
    or None. ``watched``: also report the moves of games in progress.
    """
    _lead_session()
    os.dup2(2, 1)  # Prints in a worker must not mix with the run's output.
    if cpus:
        os.sched_setaffinity(0, cpus)
    link = _Link(connection)
    file = _open_log(log)
    try:
        with EngineCache(trace=None if file is None else file.trace) as engines:
            watch = LiveReporter(link.send).watch if watched else None
            tasks.worker = tasks.Worker(engines, link.send, link.stopping, watch, file)
            while (call := link.calls.get()) is not None:
                link.send(_answer(*call))
    except BrokenPipeError:
        sys.exit(1)


def _lead_session() -> None:
    """Begin a session, so that the worker does not get the Ctrl-C of the runner's terminal.

    The runner blocks SIGINT while it starts the worker. While SIGINT is ignored, the
    system drops one that waits. Then the handler is restored, because engines would inherit the
    ignored signal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not hasattr(os, "setsid"):
        return
    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _open_log(path: str | None) -> LogFile | None:
    """Return the log of the traffic; None without a log, or if it cannot be written.

    The runner reports a log that cannot be written, such as a pipe whose reader has exited.
    """
    if path is None:
        return None
    try:
        return LogFile(path)
    except InputError:
        return None


def _answer(number: int, function: Callable[..., object], arguments: Sequence[Any]) -> Event:
    """Make a call; return its value, or the last line of its error."""
    try:
        return Returned(number, function(*arguments))
    except BrokenPipeError:
        raise  # `main` exits, because the runner has ended.
    except Exception:
        text = traceback.format_exc()
        return Failed(number, text.strip().splitlines()[-1])
