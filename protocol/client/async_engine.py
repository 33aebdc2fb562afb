"""The client for asyncio programs: the same engine, the same types, awaited.

>>> async with await AsyncEngine.popen("merels") as engine:             # doctest: +SKIP
...     result = await engine.play(Position(), Limit(time=0.1))

Each engine has a thread of its own that does the waiting, so it works in any event loop and on
any system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, wraps
from threading import Thread
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

from merels.engine.game.position import Move, Position
from merels.protocol.client.engine import (
    START_SECONDS,
    Analysis,
    Engine,
    EngineError,
    EngineTerminated,
    Info,
    Limit,
    Options,
    ResourceLimits,
)
from merels.protocol.process.pipe import Trace
from merels.protocol.process.process import QUIT_SECONDS

P = ParamSpec("P")
T = TypeVar("T")
INTERRUPT_SECONDS = 0.25


def _awaited(
    method: Callable[Concatenate[Engine, P], T], stop: Callable[[Engine], None] | None = None
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The same method, awaited; ``stop`` is what ends it early when it is cancelled."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        interrupt = None if stop is None else partial(stop, self.engine)
        return await self.run(partial(method, self.engine, *args, **kwargs), interrupt)

    return call


class AsyncAnalysis:
    """A running analysis: ``async for`` gives each `Info`; leaving ``async with`` stops it."""

    def __init__(self, engine: AsyncEngine, analysis: Analysis) -> None:
        self._engine = engine
        self._analysis = analysis

    @property
    def info(self) -> Info:
        """The best variation so far."""
        return self._analysis.info

    @property
    def infos(self) -> list[Info]:
        """The variations so far, the best one first."""
        return self._analysis.infos

    def stop(self) -> None:
        """Ask the engine to end; what it still has to say can be read."""
        self._analysis.stop()

    async def next(self) -> Info | None:
        """Wait for the next `Info`; None once the analysis has ended."""
        return await self._engine.run(self._analysis.next, self.stop)

    async def wait(self) -> Info:
        """Read to the end and return the best variation."""
        return await self._engine.run(self._analysis.wait, self.stop)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Info:
        info = await self.next()
        if info is None:
            raise StopAsyncIteration
        return info

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._engine.run(partial(self._analysis.__exit__, kind, error, traceback))


class AsyncEngine:
    """`Engine` with awaitable methods. Make one with `AsyncEngine.popen`.

    Calls are carried out one after another. Cancelling one that searches stops the search, and
    the engine is free for the next.
    """

    def __init__(self, engine: Engine, thread: ThreadPoolExecutor) -> None:
        self.engine = engine
        self._thread = thread
        self._closed = False

    @classmethod
    async def popen(
        cls,
        command: str | Sequence[str],
        *,
        timeout: float = START_SECONDS,
        protocol: str = "uci",
        directory: str | None = None,
        stderr: str | None = None,
        limits: ResourceLimits | None = None,
        trace: Trace | None = None,
    ) -> AsyncEngine:
        """Start an engine; the arguments are those of `Engine.popen`."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        start = partial(
            Engine.popen, command, timeout=timeout, protocol=protocol, directory=directory,
            stderr=stderr, limits=limits, trace=trace,
        )
        future = thread.submit(start)
        try:
            engine = await asyncio.wrap_future(future)
        except BaseException:
            future.add_done_callback(_close_started)
            thread.shutdown(wait=False)
            raise
        return cls(engine, thread)

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def options(self) -> Options:
        """The engine's options."""
        return self.engine.options

    async def run(
        self, action: Callable[[], T], interrupt: Callable[[], None] | None = None
    ) -> T:
        """Do something with the engine in its thread; a cancelled one is interrupted first."""
        if self._closed:
            raise EngineTerminated("it was closed")
        future = self._thread.submit(action)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if interrupt is not None:
                # Not in the event loop, which may be closed before the call has ended.
                Thread(target=_interrupt, args=(future, interrupt), daemon=True).start()
            raise

    configure = _awaited(Engine.configure)
    new_game = _awaited(Engine.new_game)
    ping = _awaited(Engine.ping)
    play = _awaited(Engine.play, Engine.interrupt)

    @overload
    async def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: None = None,
        moves: Iterable[Move] = (),
        root_moves: Sequence[Move] = (),
    ) -> Info: ...

    @overload
    async def analyse(
        self,
        position: Position,
        limit: Limit,
        *,
        multipv: int,
        moves: Iterable[Move] = (),
        root_moves: Sequence[Move] = (),
    ) -> list[Info]: ...

    async def analyse(self, *args: Any, **kwargs: Any) -> Info | list[Info]:
        """What the engine thinks of a position: see `Engine.analyse`."""
        call = partial(self.engine.analyse, *args, **kwargs)
        return await self.run(call, self.engine.interrupt)

    async def analysis(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        moves: Iterable[Move] = (),
        root_moves: Sequence[Move] = (),
    ) -> AsyncAnalysis:
        """Start an analysis, endless without a limit: see `Engine.analysis`."""
        analysis = partial(
            self.engine.analysis, position, limit, multipv=multipv, moves=moves,
            root_moves=root_moves,
        )
        return AsyncAnalysis(self, await self.run(analysis))

    async def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine: see `Engine.close`."""
        if self._closed:
            return
        try:
            await self.run(partial(self.engine.close, patience))
        finally:
            self._closed = True
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _interrupt(future: Future[T], interrupt: Callable[[], None]) -> None:
    """Interrupt a call until it has ended: the first time may be before its search began."""
    while not future.done():
        try:
            interrupt()
        except EngineError:
            return
        wait((future,), INTERRUPT_SECONDS)


def _close_started(future: Future[Engine]) -> None:
    """End an engine that nobody waits for any more, once it has started."""
    if not future.cancelled() and future.exception() is None:
        future.result().close(0.0)
