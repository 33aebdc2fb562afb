"""A worker process of the local pool: ``python -m merels.tournament.run.worker CPUS LOG WATCHED``.

The process is pinned to the cores CPUS (such as ``0,1``; ``-``: not pinned) and appends the traffic
with its engines to the file LOG (``-``: no log). If WATCHED is not ``-``, it also reports the moves
of games in progress.

The worker reads requests from its standard input and writes answers to its standard output. End of
input means that the runner has ended. The worker then exits at once, even during a game, and the
guardian process kills its engines.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence

from merels.engine.common.errors import InputError
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.records.games import MoveRecord
from merels.tournament.run import tasks
from merels.tournament.run.channel import Call, Leave, Link, Report, Returned
from merels.tournament.run.log_file import LogFile

REPORT_SECONDS = 0.2
"""Seconds between a worker's reports of moves, if a view needs them."""


class LiveReporter:
    """Reports the moves of the game in progress from its own thread, so that play never waits."""

    def __init__(self, report: Callable[[tasks.Played], None]) -> None:
        self._report = report
        self._game: tuple[int, Sequence[MoveRecord], int] | None = None
        threading.Thread(target=self._report_moves, daemon=True).start()

    def watch(self, number: int, moves: Sequence[MoveRecord]) -> None:
        """Switch to this game, whose first move is requested now; ``moves`` grows during play."""
        self._game = number, moves, time.monotonic_ns()

    def _report_moves(self) -> None:
        """Report new moves every `REPORT_SECONDS` until the runner has ended."""
        game, reported, asked = None, 0, 0
        with contextlib.suppress(OSError):
            while True:
                time.sleep(REPORT_SECONDS)
                if self._game is None:
                    continue
                if game is not self._game:
                    game = self._game
                    reported, asked = 0, game[2]
                elif len(game[1]) == reported:
                    continue
                new = tuple(game[1][reported:])
                # The sum leaves out the worker's time between moves, which is too short to notice.
                asked += sum(move.elapsed for move in new)
                self._report(tasks.Played(game[0], reported, new, asked))
                reported += len(new)


def _listen(link: Link, calls: queue.SimpleQueue[Call | None], stopping: threading.Event) -> None:
    """Read the runner's requests while games are played; exit when the runner has ended."""
    try:
        while True:
            request = link.receive()
            if isinstance(request, Leave):
                stopping.set()
                if request.quit:
                    calls.put(None)
            else:
                calls.put(request)
    finally:
        os._exit(1)


def main() -> None:
    """Serve calls until the runner asks the worker to quit."""
    cpus, log, watched = sys.argv[1:]
    if cpus != "-":
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    link = _take_pipes()
    calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(link, calls, stopping), daemon=True).start()

    def report(content: tasks.Started | tasks.Played | tasks.Finished) -> None:
        link.send(Report(content))

    try:
        file = _open_log(log)
        with EngineCache(trace=None if file is None else file.trace) as engines:
            watch = None if watched == "-" else LiveReporter(report).watch
            tasks.worker = tasks.Worker(engines, report, stopping, watch, file)
            while (call := calls.get()) is not None:
                _answer(call, link)
    except BrokenPipeError:
        sys.exit(1)


def _open_log(path: str) -> LogFile | None:
    """Return the log of the traffic; None without a log, or if it cannot be written.

    The runner reports a log that cannot be written, such as a pipe whose reader has exited.
    """
    if path == "-":
        return None
    try:
        return LogFile(path)
    except InputError:
        return None


def _take_pipes() -> Link:
    """Return the pipes to the runner, moved to descriptors that no print or read can use."""
    link = Link(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return link


def _answer(call: Call, link: Link) -> None:
    """Make a call and send its value, or the traceback of its exception."""
    try:
        link.send(Returned(call.function(*call.arguments, **call.keywords)))
    except BrokenPipeError:
        raise
    except Exception:
        link.send(Returned(None, traceback.format_exc()))


if __name__ == "__main__":
    main()
