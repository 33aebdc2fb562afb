"""A search that Ctrl-C ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event, Thread

from merels.engine.game.numbers import read_real
from merels.engine.game.position import Position
from merels.engine.search.levels import Level
from merels.engine.search.limits import MOST_SECONDS, Info, Limit, Result
from merels.engine.search.searcher import Searcher

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
    """A search's result, and whether Ctrl-C ended it."""
    results: list[Result] = []
    errors: list[Exception] = []
    done = Event()  # In Python 3.11 a thread that Ctrl-C ceases to wait for counts as ended.

    def job() -> None:
        try:
            results.append(
                searcher.search(position, limit, on_info, multipv=multipv, level=level)
            )
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    searcher.prepare()
    searcher.arm()
    Thread(target=job).start()
    interrupted = False
    while True:
        try:
            if done.wait(_LOOK_UP):
                break
        except KeyboardInterrupt:
            interrupted = True
            searcher.stop()
    if errors:
        raise errors[0]
    if results[0].missing:
        had = searcher.threads - results[0].missing
        print(f"merels: the system allows {had} of {searcher.threads} threads", file=sys.stderr)
    return results[0], interrupted
