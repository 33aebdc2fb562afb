"""The engine of this very process, with the client's methods and types: nothing is started.

>>> with OwnEngine() as engine:
...     result = engine.play(Position(), Limit(nodes=2000))
>>> result.turn in Position().legal_turns()
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import Event, Thread
from types import TracebackType

from merels.engine import search
from merels.engine.levels import Level
from merels.engine.position import Position, Turn
from merels.engine.search import Limits, Searcher
from merels.protocol.client import Info, Limit, PlayResult, PovScore
from merels.protocol.errors import EngineError


class OwnAnalysis:
    """A running search: iterate over it for each `Info`; leaving its ``with`` block stops it."""

    def __init__(
        self, run: Callable[[Callable[[search.Info], None]], object], stop: Callable[[], None],
        side: int,
    ) -> None:
        self._stop = stop
        self._side = side
        self._queue: SimpleQueue[Info | BaseException | None] = SimpleQueue()
        self._variations: dict[int, Info] = {}
        self._running = True
        self._ended = Event()
        self._thread = Thread(target=self._search, args=(run,), name="analysis", daemon=True)
        self._thread.start()

    def _search(self, run: Callable[[Callable[[search.Info], None]], object]) -> None:
        try:
            run(lambda info: self._queue.put(to_info(info, self._side)))
        except Exception as error:
            self._queue.put(error)
        finally:
            self._ended.set()
            self._queue.put(None)

    @property
    def info(self) -> Info:
        """The best variation so far."""
        return self._variations.get(1, Info())

    @property
    def infos(self) -> list[Info]:
        """The variations so far, the best one first."""
        return [self._variations[index] for index in sorted(self._variations)]

    @property
    def running(self) -> bool:
        """Whether there may be more to read."""
        return self._running

    def next(self) -> Info | None:
        """Wait for the next `Info`; None once the search has ended."""
        if not self._running:
            return None
        news = self._queue.get()
        if isinstance(news, Info):
            self._variations[news.multipv] = news
            return news
        self._running = False
        self._thread.join()
        if news is not None:
            raise news
        return None

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        info = self.next()
        if info is None:
            raise StopIteration
        return info

    def stop(self) -> None:
        """Ask the search to end; what it still has to say can be read. Free for any thread."""
        if not self._ended.is_set():
            self._stop()

    def wait(self) -> Info:
        """Read to the end and return the best variation."""
        while self.next() is not None:
            pass
        return self.info

    def close(self) -> None:
        """Stop and read to the end."""
        self.stop()
        self.wait()

    def __enter__(self) -> OwnAnalysis:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class OwnEngine:
    """`merels.protocol.client.Engine` without a process: one search at a time.

    ``level`` is a strength level, None for full strength, and may be changed between searches.
    """

    def __init__(
        self, hash_mb: int = search.DEFAULT_HASH, threads: int = 1, level: Level | None = None
    ) -> None:
        from merels.engine import __version__

        self.name = f"merels {__version__}"
        self.level = level
        self._searcher = Searcher(hash_mb, threads)
        self._analysis: OwnAnalysis | None = None

    def __enter__(self) -> OwnEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop a search that still runs."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None

    def prepare(self) -> None:
        """Take the memory now that the first search would take; `InputError` names too much."""
        self._searcher.prepare()

    def new_game(self) -> None:
        """Forget the game before."""
        self.close()
        self._searcher.clear()

    def interrupt(self) -> None:
        """Ask a search that another thread waits for to end now; free for any thread."""
        self._searcher.stop()

    def play(
        self,
        position: Position,
        limit: Limit,
        *,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> PlayResult:
        """The turn in the position that ``turns`` lead to from ``position``.

        ``root_turns`` are the only ones to choose from. An illegal turn raises `InputError`.
        """
        self.close()
        if limit == Limit():
            raise EngineError("a search without a limit has no end: give one, or use analysis()")
        for turn in turns:
            position = position.push(turn)
        result = self._searcher.search(
            position, to_limits(limit, root_turns), level=self.level
        )
        return PlayResult(result.turn, result.ponder, to_info(result.info, position.side))

    def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: int | None = None,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> Info | list[Info]:
        """What a search to the limit thinks: the best variation, or a list with ``multipv``."""
        with self.analysis(
            position, limit, multipv=multipv, turns=turns, root_turns=root_turns
        ) as analysis:
            analysis.wait()
        return analysis.info if multipv is None else analysis.infos

    def analysis(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        turns: Iterable[Turn] = (),
        root_turns: Sequence[Turn] = (),
    ) -> OwnAnalysis:
        """Start a search, endless without a limit, and return the stream of its `Info`."""
        self.close()
        for turn in turns:
            position = position.push(turn)
        limits = Limits(infinite=True, turns=tuple(root_turns))
        if limit is not None:
            limits = to_limits(limit, root_turns)
        self._searcher.prepare()
        self._searcher.arm()

        def run(report: Callable[[search.Info], None]) -> object:
            return self._searcher.search(
                position, limits, report, multipv=multipv or 1, level=self.level
            )

        self._analysis = OwnAnalysis(run, self._searcher.stop, position.side)
        return self._analysis


def to_limits(limit: Limit, turns: Sequence[Turn] = ()) -> Limits:
    """The client's limit, in seconds, as the search takes it, in milliseconds."""
    return Limits(
        depth=limit.depth,
        nodes=limit.nodes,
        mate=limit.mate,
        movetime=None if limit.time is None else max(1, round(limit.time * 1000)),
        time=(_milliseconds(limit.white_clock), _milliseconds(limit.black_clock)),
        increment=(_milliseconds(limit.white_inc) or 0, _milliseconds(limit.black_inc) or 0),
        moves_to_go=limit.remaining_moves,
        turns=tuple(turns),
    )


def to_info(info: search.Info, side: int) -> Info:
    """What a search for ``side`` knows, in the client's words."""
    return Info(
        score=PovScore(info.score, side),
        bound=info.bound,
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


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
