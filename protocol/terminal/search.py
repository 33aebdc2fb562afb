"""A search that Ctrl-C stops."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from merels.engine.common.numbers import read_real
from merels.engine.game.position import Position
from merels.engine.search.clock import Clock
from merels.engine.search.levels import Level
from merels.engine.search.limits import MAX_TIME, Info, Limit, Result
from merels.engine.search.searcher import Searcher

_CHECK_SECONDS = 0.1
"""Seconds between checks for Ctrl-C, which does not wake a waiting thread on Windows."""


def read_seconds(text: str) -> float:
    """Return the thinking time in ``text``, in seconds; `InputError` if it is out of range."""
    return read_real(text, 0.001, MAX_TIME, what="seconds")


def search(
    searcher: Searcher,
    position: Position,
    limit: Limit,
    on_info: Callable[[Info], None] | None = None,
    *,
    multipv: int = 1,
    level: Level | None = None,
) -> tuple[Result, bool]:
    """Return a search's result, and whether Ctrl-C stopped it; for the main thread only.

    Errors are those of `Searcher.prepare` and `Searcher.search`.
    """
    results: list[Result] = []
    errors: list[Exception] = []
    events: SimpleQueue[bool] = SimpleQueue()  # True: the search has ended. False: Ctrl-C.

    def job() -> None:
        try:
            results.append(searcher.search(
                position, limit, on_info, multipv=multipv, level=level, clock=clock
            ))  # fmt: skip
        except Exception as error:
            errors.append(error)
        finally:
            events.put(True)

    searcher.prepare()
    clock = Clock()
    interrupted = False
    # Without a handler, KeyboardInterrupt could leave this function during the search.
    old_handler = signal.signal(signal.SIGINT, lambda *_: events.put(False))
    try:
        Thread(target=job).start()
        while not _next(events):
            interrupted = True
            clock.stop()
    finally:
        signal.signal(signal.SIGINT, old_handler)
    if errors:
        raise errors[0]
    if results[0].missing:
        allowed = searcher.threads - results[0].missing
        print(
            f"merels: the system allows only {allowed} of {searcher.threads} threads",
            file=sys.stderr,
        )
    return results[0], interrupted


def _next(events: SimpleQueue[bool]) -> bool:
    """Wait for the next event and return it."""
    while True:
        try:
            return events.get(timeout=_CHECK_SECONDS)
        except Empty:
            continue
