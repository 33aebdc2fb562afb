"""A worker process of the local pool: ``python -m merels.tournament.run.worker CPUS LOG WATCHED``.

It is pinned to the cores CPUS (such as ``0,1``; ``-``: to none), and appends the traffic with its
engines to LOG (``-``: nowhere). With WATCHED (else ``-``) it reports the games in progress, move by
move.

It takes requests from its standard input and answers on its standard output. The end of its input
means that the runner is gone, however that came about: the worker ends at once, even in the middle
of a game, and the guardian of its engines kills them, so that nothing outlives the runner.
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

from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.records.games import MoveRecord
from merels.tournament.run import tasks
from merels.tournament.run.channel import Call, Leave, Link, Report, Returned
from merels.tournament.run.log_file import LogFile

TELL_SECONDS = 0.2
"""Seconds between a worker's reports of moves, if a view needs them."""


class LiveReporter:
    """Tells of the game in progress from a thread of its own: the game itself waits for nothing."""

    def __init__(self, report: Callable[[tasks.Played], None]) -> None:
        self._report = report
        self._game: tuple[int, Sequence[MoveRecord], int] | None = None
        threading.Thread(target=self._tell, daemon=True).start()

    def watch(self, number: int, moves: Sequence[MoveRecord]) -> None:
        """Tell of this game from now on: its first move is asked for now."""
        self._game = number, moves, time.monotonic_ns()

    def _tell(self) -> None:
        """Report what is new, again and again, as long as the runner is there."""
        game, told, asked = None, 0, 0
        with contextlib.suppress(OSError):
            while True:
                time.sleep(TELL_SECONDS)
                if self._game is None:
                    continue
                if game is not self._game:
                    game = self._game
                    told, asked = 0, game[2]
                elif len(game[1]) == told:
                    continue
                new = tuple(game[1][told:])
                # The runner's own time between two moves is too short to be seen.
                asked += sum(move.elapsed for move in new)
                self._report(tasks.Played(game[0], told, new, asked))
                told += len(new)


def _listen(link: Link, calls: queue.SimpleQueue[Call | None], stopping: threading.Event) -> None:
    """Take the runner's requests while games are played."""
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
    """Serve calls until told to leave."""
    cpus, log, watched = sys.argv[1:]
    if cpus != "-":
        os.sched_setaffinity(0, map(int, cpus.split(",")))
    link = _take_pipes()
    calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(link, calls, stopping), daemon=True).start()

    def report(content: tasks.Started | tasks.Played | tasks.Finished) -> None:
        link.send(Report(content))

    cache = EngineCache() if log == "-" else EngineCache(trace=LogFile(log).trace)
    try:
        with cache as engines:
            watch = None if watched == "-" else LiveReporter(report).watch
            tasks.worker = tasks.Worker(engines, report, stopping, watch)
            while (call := calls.get()) is not None:
                _answer(call, link)
    except BrokenPipeError:
        sys.exit(1)


def _take_pipes() -> Link:
    """The pipes to the runner, moved out of reach of anything that prints or reads."""
    link = Link(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return link


def _answer(call: Call, link: Link) -> None:
    """Make a call and send its value, or the traceback of what went wrong."""
    try:
        link.send(Returned(call.function(*call.arguments, **call.keywords)))
    except BrokenPipeError:
        raise
    except Exception:
        link.send(Returned(None, traceback.format_exc()))


if __name__ == "__main__":
    main()
