"""The engine of this very process, with the client's methods and types: nothing is started.

>>> with OwnEngine() as engine:
...     result = engine.play(Position(), Limit(nodes=2000))
>>> result.move in Position().legal_moves()
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Event, Thread

from merels.engine import __version__
from merels.engine.game.position import Move, Position
from merels.engine.search.levels import Level
from merels.engine.search.limits import Info as SearchInfo
from merels.engine.search.limits import Limits
from merels.engine.search.searcher import DEFAULT_HASH, Searcher
from merels.engine.tablebase.probe import Tables
from merels.protocol.client.analysis import Analysis
from merels.protocol.client.any_engine import (
    AnyEngine,
    Limit,
    PlayResult,
    Task,
    milliseconds,
    thinking_time,
)
from merels.protocol.client.info import Info, PovScore

Report = Callable[[SearchInfo], None]


class OwnAnalysis(Analysis):
    """A search in a thread of its own: ``run`` makes it and reports to the function it is given."""

    def __init__(
        self, run: Callable[[Report], object], stop: Callable[[], None], side: int
    ) -> None:
        super().__init__()
        self._stop = stop
        self._side = side
        self._queue: SimpleQueue[Info | Exception | None] = SimpleQueue()
        self._ended = Event()
        self._thread = Thread(target=self._search, args=(run,), name="analysis", daemon=True)
        self._thread.start()

    def _search(self, run: Callable[[Report], object]) -> None:
        try:
            run(lambda info: self._queue.put(to_info(info, self._side)))
        except Exception as error:
            self._queue.put(error)
        finally:
            self._ended.set()
            self._queue.put(None)

    def _next(self) -> Info | None:
        news = self._queue.get()
        if isinstance(news, Info):
            return news
        self._running = False
        self._thread.join()
        if news is not None:
            raise news
        return None

    def stop(self) -> None:
        if not self._ended.is_set():
            self._stop()


class OwnEngine(AnyEngine):
    """`merels.protocol.client.engine.Engine` without a process: one search at a time.

    ``level`` is a strength level, None for full strength, and may be changed between searches.
    """

    def __init__(
        self, hash_mb: int = DEFAULT_HASH, threads: int = 1, level: Level | None = None
    ) -> None:
        self.name = f"merels {__version__}"
        self.level = level
        self._searcher = Searcher(hash_mb, threads)

    @property
    def tables(self) -> Tables | None:
        """Tables of perfect play, used in positions of their rules; may change between searches."""
        return self._searcher.tables

    @tables.setter
    def tables(self, tables: Tables | None) -> None:
        self._searcher.tables = tables

    def close(self) -> None:
        """Stop a search that still runs."""
        self._end_analysis()

    def prepare(self) -> None:
        """Take the memory now that the first search would take; `InputError` names too much."""
        self._searcher.prepare()

    def new_game(self) -> None:
        """Forget the game before."""
        self._end_analysis()
        self._searcher.clear()

    def interrupt(self) -> None:
        self._searcher.stop()

    def _play(self, task: Task, limit: Limit) -> PlayResult:
        self._searcher.arm()  # An earlier interrupt, which found no search, is none of this one.
        position, limits = task.position, to_limits(limit, task.root_moves)
        result = self._searcher.search(position, limits, level=self.level)
        return PlayResult(result.move, result.ponder, to_info(result.info, position.side))

    def _analyse(self, task: Task, limit: Limit | None, multipv: int) -> Analysis:
        position, limits = task.position, to_limits(limit, task.root_moves)
        self._searcher.prepare()
        self._searcher.arm()

        def run(report: Report) -> object:
            return self._searcher.search(
                position, limits, report, multipv=multipv, level=self.level
            )

        return OwnAnalysis(run, self._searcher.stop, position.side)


def to_limits(limit: Limit | None, moves: Sequence[Move] = ()) -> Limits:
    """The client's limit, in seconds, as the search takes it, in milliseconds; None is endless."""
    if limit is None:
        return Limits(infinite=True, moves=tuple(moves))
    return Limits(
        depth=limit.depth,
        nodes=limit.nodes,
        mate=limit.mate,
        movetime=thinking_time(limit),
        time=(milliseconds(limit.white_clock), milliseconds(limit.black_clock)),
        increment=(milliseconds(limit.white_inc) or 0, milliseconds(limit.black_inc) or 0),
        moves_to_go=limit.remaining_moves,
        moves=tuple(moves),
    )


def to_info(info: SearchInfo, side: int) -> Info:
    """What a search for ``side`` knows, in the client's words."""
    return Info(
        score=PovScore(info.score, side),
        depth=info.depth,
        seldepth=info.seldepth,
        multipv=info.multipv,
        nodes=info.nodes,
        nps=info.nps,
        time=info.time / 1000,
        hashfull=info.hashfull,
        tbhits=info.tbhits,
        wdl=info.wdl,
        pv=info.pv,
    )
