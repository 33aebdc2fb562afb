"""A worker process of the local pool: ``python -m merels.tournament.run.worker CPU LOG``.

It is pinned to the core CPU (``-``: to none), and appends the traffic with its engines to LOG
(``-``: nowhere).

It takes requests from its standard input and answers on its standard output. The end of its input
means that the runner is gone, however that came about: the worker ends at once, even in the middle
of a game, and the guardian of its engines kills them, so that nothing outlives the runner.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback

from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.run import tasks
from merels.tournament.run.channel import Call, Leave, Link, Report, Returned
from merels.tournament.run.log_file import LogFile


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
    cpu, log = sys.argv[1:]
    if cpu != "-":
        os.sched_setaffinity(0, {int(cpu)})
    link = _take_pipes()
    calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(link, calls, stopping), daemon=True).start()
    cache = EngineCache() if log == "-" else EngineCache(stderr=log, trace=LogFile(log).trace)
    try:
        with cache as engines:
            tasks.worker = tasks.Worker(
                engines, lambda content: link.send(Report(content)), stopping.is_set
            )
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
