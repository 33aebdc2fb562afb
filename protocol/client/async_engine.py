"""The client for asyncio programs: `Engine` with awaitable methods.

>>> async with await AsyncEngine.popen("merels") as engine:             # doctest: +SKIP
...     result = await engine.play(Position(), Limit(time=0.1))

Each engine has its own thread, which calls the blocking methods. So the client works with any event
loop and on any system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial, wraps
from threading import Thread
from time import monotonic
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from merels.engine.common.numbers import real_number
from merels.engine.search.limits import LONGEST, Info
from merels.protocol.client.any_engine import Analysis, AnalysisComplete, Stop
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated
from merels.protocol.process.process import QUIT_SECONDS, TERMINATE_SECONDS

P = ParamSpec("P")
T = TypeVar("T")
POLL_SECONDS = 0.1
"""Longest wait of the engine's thread for an `Info`, in seconds; other calls run in between."""


def _awaited(
    method: Callable[Concatenate[Engine, P], T], *, searches: bool = False
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """Return the coroutine method that runs ``method`` in the engine's thread.

    If the method ``searches``, cancelling the coroutine stops its search.
    """

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        stop = kwargs.setdefault("stop", Stop()) if searches else None
        future = self.submit(partial(method, self.engine, *args, **kwargs))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if isinstance(stop, Stop) and not future.cancel():
                _in_thread(stop.set)
            raise

    return call


def _streamed(
    method: Callable[Concatenate[Engine, P], Analysis],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, AsyncAnalysis]]:
    """Return the coroutine method for ``method``, which returns an `AsyncAnalysis`."""
    start = _awaited(method, searches=True)

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> AsyncAnalysis:
        return AsyncAnalysis(self, await start(self, *args, **kwargs))

    return call


def _in_thread(request: Callable[[], None]) -> None:
    """Call ``request`` in a thread; an engine that does not read its input blocks the call."""

    def call() -> None:
        with suppress(EngineError):
            request()

    Thread(target=call, daemon=True).start()


def _started(
    popen: Callable[P, Engine],
) -> Callable[Concatenate[type[AsyncEngine], P], Coroutine[Any, Any, AsyncEngine]]:
    """Return the coroutine class method for ``popen``, which returns an `AsyncEngine`."""

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
    """Close an engine whose start was cancelled, once it has started."""
    if not future.cancelled() and future.exception() is None:
        future.result().close(0.0)


class AsyncAnalysis:
    """A running analysis: ``async for`` yields each `Info`; leaving ``async with`` stops it.

    One task reads an analysis. Cancelling `next` or `wait` neither ends the analysis nor loses an
    `Info`.
    """

    def __init__(self, engine: AsyncEngine, analysis: Analysis) -> None:
        self._engine = engine
        self._analysis = analysis
        self._reading: Future[Info | None] | None = None
        """The pending read; it remains if `next` is cancelled, and the next call awaits it."""

    @property
    def info(self) -> Info:
        """The latest `Info` about the best variation; before the first, an empty `Info`."""
        return self._analysis.info

    @property
    def infos(self) -> list[Info]:
        """The latest `Info` about each variation, the best one first."""
        return self._analysis.infos

    def stop(self) -> None:
        """Ask the engine to stop; its last reports can still be read.

        This returns at once, even if the engine does not read its input.
        """
        _in_thread(self._analysis.stop)

    async def next(self) -> Info | None:
        """Wait for the next `Info`; return None at the end of the analysis.

        ``asyncio.wait_for(analysis.next(), seconds)`` waits with a timeout.
        """
        while True:
            if self._reading is None:
                self._reading = self._engine.submit(partial(self._analysis.next, POLL_SECONDS))
            try:
                info = await asyncio.shield(asyncio.wrap_future(self._reading))
            except Exception:  # Not CancelledError, after which the read stays pending.
                self._reading = None
                raise
            self._reading = None
            if info is not None or not self._analysis.running:
                return info

    async def get(self) -> Info:
        """Wait for the next `Info`; `AnalysisComplete` at the end of the analysis."""
        info = await self.next()
        if info is None:
            raise AnalysisComplete
        return info

    async def wait(self) -> Info:
        """Read to the end and return the last `Info` about the best variation."""
        while await self.next() is not None:
            pass
        return self.info

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
        stopping = self._engine.submit(partial(self._analysis.__exit__, *error))
        await asyncio.shield(asyncio.wrap_future(stopping))


class AsyncEngine:
    """`Engine` with awaitable methods; `AsyncEngine.popen` starts an engine.

    ``engine`` is the wrapped engine; ``name`` and ``options`` come from its greeting. Calls run
    one after another. Cancelling a call that searches stops its search.
    """

    def __init__(self, engine: Engine, thread: ThreadPoolExecutor) -> None:
        self.engine = engine
        self.name = engine.name
        self.options = engine.options
        self._thread = thread
        self._closing: Future[None] | None = None

    popen = classmethod(_started(Engine.popen))
    configure = _awaited(Engine.configure)
    new_game = _awaited(Engine.new_game)
    ping = _awaited(Engine.ping)
    play = _awaited(Engine.play, searches=True)
    analyse = _awaited(Engine.analyse, searches=True)
    analysis = _streamed(Engine.analysis)

    def submit(self, action: Callable[[], T]) -> Future[T]:
        """Run ``action`` in the engine's thread after the earlier actions.

        `EngineTerminated` after `close`.
        """
        if self._closing is not None:
            raise EngineTerminated("closed by this program")
        return self._thread.submit(action)

    def kill(self) -> None:
        """End the process at once: see `Engine.kill`; `close` must still be awaited."""
        self.engine.kill()

    async def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine and its processes within about ``patience`` seconds plus half a second.

        The engine is sent ``quit``, after ``patience`` seconds SIGTERM, and at the end SIGKILL. A
        call in progress raises `EngineTerminated` if the engine does not answer it first.
        Cancelling `close` ends only the wait; call it again to wait again.
        """
        if self._closing is None:
            real_number(patience, 0, LONGEST, "patience")
            deadline = monotonic() + patience
            ended = self.submit(lambda: self.engine.close(max(0.0, deadline - monotonic())))
            self._closing = ended
            # In another thread, as the engine's thread may wait for an answer that never comes.
            Thread(target=self._end, args=(ended, patience), name="closing").start()
        await asyncio.shield(asyncio.wrap_future(self._closing))

    def _end(self, ended: Future[None], patience: float) -> None:
        """End the engine, even if its own thread waits for an answer."""
        self.engine.connection.send_quit()
        wait([ended], patience)
        # While `Engine.close` runs in the engine's thread, it ends the process. If it does not run,
        # it has ended, or the thread still waits for an answer.
        if not ended.running():
            self.engine.connection.terminate()
            wait([ended], TERMINATE_SECONDS)
        if not ended.running():
            self.engine.kill()
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
