"""The client for asyncio programs: the same engine, the same types, awaited.

>>> async with await AsyncEngine.popen("merels") as engine:             # doctest: +SKIP
...     result = await engine.play(Position(), Limit(time=0.1))

Each engine has a thread of its own that does the waiting, so it works in any event loop and on
any system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, wraps
from threading import Event, Lock, Thread
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from merels.engine.search.limits import Info
from merels.protocol.client.any_engine import Analysis
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated
from merels.protocol.process.process import QUIT_SECONDS

P = ParamSpec("P")
T = TypeVar("T")
INTERRUPT_SECONDS = 0.25


class _Call(Generic[T]):
    """Something that an engine's thread does; interrupting it never reaches what it does next."""

    def __init__(self, action: Callable[[], T]) -> None:
        self._action = action
        self._ending = Lock()
        self._ended = Event()

    def __call__(self) -> T:
        try:
            return self._action()
        finally:
            with self._ending:
                self._ended.set()

    def interrupt(self, interrupt: Callable[[], None]) -> None:
        """Interrupt it until it has ended: the first time may be before its search began."""
        while not self._ended.wait(0.0):
            with self._ending:
                if not self._ended.is_set():
                    try:
                        interrupt()
                    except EngineError:
                        return
            self._ended.wait(INTERRUPT_SECONDS)


def _awaited(
    method: Callable[Concatenate[Engine, P], T],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The same method, awaited."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(partial(method, self.engine, *args, **kwargs))

    return call


def _searched(
    method: Callable[Concatenate[Engine, P], T],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The same method, awaited, whose search is stopped if it is cancelled."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        search = partial(method, self.engine, *args, **kwargs)
        return await self.run(search, self.engine.interrupt)

    return call


def _streamed(
    method: Callable[Concatenate[Engine, P], Analysis],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, AsyncAnalysis]]:
    """The same method, whose analysis is awaited."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> AsyncAnalysis:
        analysis = await self.run(partial(method, self.engine, *args, **kwargs))
        return AsyncAnalysis(self, analysis)

    return call


def _started(
    popen: Callable[P, Engine],
) -> Callable[Concatenate[type[AsyncEngine], P], Coroutine[Any, Any, AsyncEngine]]:
    """The same way to start an engine, awaited."""

    @wraps(popen)
    async def call(cls: type[AsyncEngine], /, *args: P.args, **kwargs: P.kwargs) -> AsyncEngine:
        thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        future = thread.submit(popen, *args, **kwargs)
        try:
            return cls(await asyncio.wrap_future(future), thread)
        except BaseException:
            future.add_done_callback(_close_started)
            thread.shutdown(wait=False)
            raise

    return call


def _close_started(future: Future[Engine]) -> None:
    """End an engine whose start was cancelled, once it has started."""
    if not future.cancelled() and future.exception() is None:
        future.result().close(0.0)


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

    async def __aexit__(self, *error: Any) -> None:
        await self._engine.run(partial(self._analysis.__exit__, *error))


class AsyncEngine:
    """`Engine` with awaitable methods. Make one with `AsyncEngine.popen`.

    ``engine`` is that engine, ``name`` and ``options`` are its own. Calls are carried out one after
    another. Cancelling one that searches stops the search, and the engine is free for the next.
    """

    def __init__(self, engine: Engine, thread: ThreadPoolExecutor) -> None:
        self.engine = engine
        self.name = engine.name
        self.options = engine.options
        self._thread = thread
        self._closed = False

    popen = classmethod(_started(Engine.popen))
    configure = _awaited(Engine.configure)
    new_game = _awaited(Engine.new_game)
    ping = _awaited(Engine.ping)
    play = _searched(Engine.play)
    analyse = _searched(Engine.analyse)
    analysis = _streamed(Engine.analysis)

    async def run(self, action: Callable[[], T], interrupt: Callable[[], None] | None = None) -> T:
        """Do something with the engine in its thread; a cancelled one is interrupted first."""
        if self._closed:
            raise EngineTerminated("it was closed")
        call = _Call(action)
        future = self._thread.submit(call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if interrupt is not None and not future.cancel():
                # Not in the event loop, which may be closed before the call has ended.
                Thread(target=call.interrupt, args=(interrupt,), daemon=True).start()
            raise

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
