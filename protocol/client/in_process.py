"""The built-in engine without a process, with the client's methods and types.

>>> from merels.engine.game.position import Position
>>> with InProcessEngine() as engine:
...     result = engine.play(Position(), Limit(nodes=2000))
>>> result.move in Position().legal_moves()
True
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from merels.engine import full_version
from merels.engine.search.clock import Clock
from merels.engine.search.levels import Level, read_level
from merels.engine.search.limits import Info, Limit, Result
from merels.engine.search.searcher import DEFAULT_HASH, Searcher
from merels.engine.tablebase.probe import Tables
from merels.protocol.client.any_engine import Analysis, AnyEngine, PlayResult, Stop, Task

Report = Callable[[Info], None]


class InProcessAnalysis(Analysis):
    """A search in its own thread; ``run`` searches and passes each `Info` to its argument.

    ``result`` is the search's result after the end of the analysis, None before.
    """

    def __init__(self, run: Callable[[Report], Result], stop: Callable[[], None]) -> None:
        super().__init__()
        self.result: Result | None = None
        self._stop = stop
        self._queue: SimpleQueue[Info | Exception | None] = SimpleQueue()
        self._thread = Thread(target=self._search, args=(run,), name="analysis", daemon=True)
        self._thread.start()

    def _search(self, run: Callable[[Report], Result]) -> None:
        try:
            self.result = run(self._queue.put)
        except Exception as error:
            self._queue.put(error)
        finally:
            self._queue.put(None)

    def _next(self, timeout: float | None) -> Info | None:
        try:
            event = self._queue.get(timeout=timeout)
        except Empty:
            return None
        if isinstance(event, Info):
            return event
        self.running = False
        self._thread.join()
        if event is not None:
            raise event
        return None

    def stop(self) -> None:
        self._stop()


class InProcessEngine(AnyEngine):
    """The built-in engine in this process, with the interface `AnyEngine`.

    ``hash_mb`` is the size of the transposition table in MiB. ``level`` is a strength level or its
    name, None for full strength; it may be changed between searches.
    """

    def __init__(
        self, hash_mb: int = DEFAULT_HASH, threads: int = 1, level: Level | str | None = None
    ) -> None:
        super().__init__()
        self.name = f"merels {full_version()}"
        self._level = read_level(level)
        self._searcher = Searcher(hash_mb, threads)

    @property
    def level(self) -> Level | None:
        """The strength level, or None; settable between searches, also by name."""
        return self._level

    @level.setter
    def level(self, level: Level | str | None) -> None:
        self._level = read_level(level)

    @property
    def tables(self) -> Tables | None:
        """Tables of perfect play, used for positions of their rules; settable between searches."""
        return self._searcher.tables

    @tables.setter
    def tables(self, tables: Tables | None) -> None:
        self._searcher.tables = tables

    def close(self) -> None:
        """Stop a running analysis."""
        self._end_analysis()

    def prepare(self) -> None:
        """Allocate the memory for searches now; `InputError` if there is too little memory."""
        self._searcher.prepare()

    def new_game(self) -> None:
        """Clear the transposition table and the histories of earlier searches."""
        with self.used():
            self._end_analysis()
            self._searcher.clear()

    def _play(self, task: Task, limit: Limit, stop: Stop | None) -> PlayResult:
        self._searcher.prepare()
        clock = Clock()
        if stop is not None:
            stop.attach(clock.stop)
        result = self._searcher.search(
            task.position, limit, root_moves=task.root_moves, level=self.level, clock=clock
        )
        return PlayResult(result.move, result.ponder, result.info)

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        self._searcher.prepare()
        clock = Clock()

        def run(report: Report) -> Result:
            return self._searcher.search(
                task.position, limit or Limit(), report, root_moves=task.root_moves,
                infinite=limit is None, multipv=multipv, level=self.level, clock=clock,
            )

        return InProcessAnalysis(run, clock.stop)
