"""A search that Ctrl-C stops."""

from __future__ import annotations

import signal
from collections.abc import Callable

from merels.engine.common.notices import notify
from merels.engine.common.numbers import read_real
from merels.engine.game.position import Position
from merels.engine.search.clock import Clock
from merels.engine.search.levels import Level
from merels.engine.search.limits import MAX_TIME, Info, Limit, Result
from merels.engine.search.searcher import Searcher
from merels.protocol.client.in_process import InProcessAnalysis

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
    clock = Clock()
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        clock.stop()

    def run(report: Callable[[Info], None]) -> Result:
        return searcher.search(
            position, limit, report, multipv=multipv, level=level, clock=clock
        )

    searcher.prepare()
    # Without a handler, KeyboardInterrupt could leave this function during the search.
    old_handler = signal.signal(signal.SIGINT, interrupt)
    try:
        analysis = InProcessAnalysis(run, clock.stop)
        while analysis.running:
            info = analysis.next(_CHECK_SECONDS)
            if info is not None and on_info is not None:
                on_info(info)
    finally:
        signal.signal(signal.SIGINT, old_handler)
    result = analysis.result
    assert result is not None, "without a result, `next` has raised the error"
    if result.missing:
        allowed = searcher.threads - result.missing
        notify(f"the system allows only {allowed} of {searcher.threads} threads")
    return result, interrupted
