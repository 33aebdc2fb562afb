"""A search that Ctrl-C ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from merels.engine.common.numbers import read_real
from merels.engine.game.position import Position
from merels.engine.search.levels import Level
from merels.engine.search.limits import MOST_SECONDS, Info, Limit, Result
from merels.engine.search.searcher import Searcher
from merels.engine.search.signals import Signals

_LOOK_UP = 0.1
"""Seconds between checks for Ctrl-C, which does not wake a waiting thread on Windows."""


def read_seconds(text: str) -> float:
    """A thinking time, from a millisecond to a day."""
    return read_real(text, 0.001, MOST_SECONDS, what="seconds")


def search(
    searcher: Searcher,
    position: Position,
    limit: Limit,
    on_info: Callable[[Info], None] | None = None,
    *,
    multipv: int = 1,
    level: Level | None = None,
) -> tuple[Result, bool]:
    """Return a search's result, and whether Ctrl-C ended it. Call it from the main thread only."""
    results: list[Result] = []
    errors: list[Exception] = []
    calls: SimpleQueue[bool] = SimpleQueue()  # Whether the search is over, or else Ctrl-C came.

    def job() -> None:
        try:
            results.append(
                searcher.search(
                    position, limit, on_info, multipv=multipv, level=level, signals=signals
                )
            )
        except Exception as error:
            errors.append(error)
        finally:
            calls.put(True)

    searcher.prepare()
    signals = Signals()
    interrupted = False
    # An exception before the thread is joined would leave it searching.
    before = signal.signal(signal.SIGINT, lambda *_: calls.put(False))
    try:
        Thread(target=job).start()
        while not _next(calls):
            interrupted = True
            signals.stop()
    finally:
        signal.signal(signal.SIGINT, before)
    if errors:
        raise errors[0]
    if results[0].missing:
        had = searcher.threads - results[0].missing
        print(f"merels: the system allows {had} of {searcher.threads} threads", file=sys.stderr)
    return results[0], interrupted


def _next(calls: SimpleQueue[bool]) -> bool:
    """The next call, however long it takes."""
    while True:
        try:
            return calls.get(timeout=_LOOK_UP)
        except Empty:
            continue
