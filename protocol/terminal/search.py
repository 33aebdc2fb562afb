"""The built-in engine at a terminal: it uses the user's tables, and Ctrl-C stops its searches."""

from __future__ import annotations

import signal
from collections.abc import Callable

from merels.engine.common.numbers import read_real
from merels.engine.game.position import Position
from merels.engine.search.limits import MAX_TIME, Info, Limit, Result
from merels.engine.search.searcher import DEFAULT_HASH
from merels.engine.tablebase.cache import TableCache
from merels.protocol.client.in_process import InProcessAnalysis, InProcessEngine
from merels.protocol.common.notices import notify

_CHECK_SECONDS = 0.1
"""Seconds between checks for Ctrl-C, which does not wake a waiting thread on Windows."""


def read_seconds(text: str) -> float:
    """Return the thinking time in ``text``, in seconds; `InputError` if it is out of range."""
    return read_real(text, 0.001, MAX_TIME, what="seconds")


class TerminalEngine(InProcessEngine):
    """The built-in engine for a command; its problems are printed as notices."""

    def __init__(self, hash_mb: int = DEFAULT_HASH, threads: int = 1) -> None:
        super().__init__(hash_mb, threads)
        self._table_cache = TableCache()

    def search(
        self, position: Position, limit: Limit, on_info: Callable[[Info], None] | None = None,
        *, multipv: int = 1,
    ) -> tuple[Result, bool]:  # fmt: skip
        """Return a search's result, and whether Ctrl-C stopped it; for the main thread only.

        ``on_info`` is called with the engine's reports. Errors are those of `AnyEngine.analysis`.
        """
        self.tables, problems = self._table_cache.fetch(position.rules, wait=limit.untimed)
        for problem in problems:
            notify(f"{problem}; the engine plays on without it")
        analysis: InProcessAnalysis | None = None
        interrupted = False

        def interrupt(*_: object) -> None:
            nonlocal interrupted
            interrupted = True
            if analysis is not None:
                analysis.stop()

        # Without a handler, KeyboardInterrupt could leave this function during the search.
        old_handler = signal.signal(signal.SIGINT, interrupt)
        try:
            started = self.analysis(position, limit, multipv=multipv)
            assert isinstance(started, InProcessAnalysis)
            analysis = started
            if interrupted:
                analysis.stop()
            while analysis.running:
                info = analysis.next(_CHECK_SECONDS)
                if info is not None and on_info is not None:
                    on_info(info)
        finally:
            signal.signal(signal.SIGINT, old_handler)
        result = analysis.result
        assert result is not None, "without a result, `next` has raised the error"
        if result.missing:
            threads = self._searcher.threads
            notify(f"the system allows only {threads - result.missing} of {threads} threads")
        return result, interrupted
