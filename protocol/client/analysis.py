"""A running analysis as a stream of what the engine says."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic_ns
from types import TracebackType
from typing import Self

from merels.engine.game.position import Position
from merels.engine.search.limits import Info
from merels.protocol.client.dialects import UciAdapter
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import Pipe

_STOP_SECONDS = 5.0
_SLICE = 500_000_000


class Analysis:
    """Iterate over it for each `Info` as it comes; leaving its ``with`` block stops it.

    ``info`` and ``infos`` are what it has said so far. One thread reads it; `stop` is free for
    others. Where the reports come from is left to the analysis of each kind of engine.
    """

    def __init__(self) -> None:
        self._variations: dict[int, Info] = {}
        self._running = True

    @property
    def info(self) -> Info:
        """The latest of the best variation."""
        return self._variations.get(1, Info())

    @property
    def infos(self) -> list[Info]:
        """The latest of each variation, the best one first."""
        return [self._variations[index] for index in sorted(self._variations)]

    @property
    def running(self) -> bool:
        """Whether there may be more to read."""
        return self._running

    def __iter__(self) -> Iterator[Info]:
        return self

    def __next__(self) -> Info:
        info = self.next()
        if info is None:
            raise StopIteration
        return info

    def next(self) -> Info | None:
        """Wait for the next `Info`; None once the analysis has ended."""
        info = self._next() if self._running else None
        if info is not None and info.score is not None:
            self._variations[info.multipv] = info
        return info

    def _next(self) -> Info | None:
        """The next `Info`, or None at the end; the caller that reads the end sets ``_running``."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ask the engine to end; what it still has to say can be read. Free for any thread."""
        raise NotImplementedError

    def wait(self) -> Info:
        """Read to the end and return the best variation."""
        while self.next() is not None:
            pass
        return self.info

    def close(self) -> None:
        """Stop and read to the end."""
        self.stop()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        elif self._running and not isinstance(error, (EngineTerminated, EngineTimeout)):
            try:
                self.close()
            except EngineError:
                pass  # The caller must see the first error.
