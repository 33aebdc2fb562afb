"""The client for asyncio programs: the same engine, the same types, awaited.

>>> async with await AsyncEngine.popen("merels") as engine:             # doctest: +SKIP
...     result = await engine.play(Position(), Limit(time=0.1))

Each engine has a thread of its own that does the waiting, so it works in any event loop and on
any system.
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

from merels.engine.search.limits import Info
from merels.protocol.client.any_engine import Analysis, Call
from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError, EngineTerminated
from merels.protocol.process.process import QUIT_SECONDS, TERMINATE_SECONDS

P = ParamSpec("P")
T = TypeVar("T")
POLL_SECONDS = 0.1
"""How long the engine's thread waits for an `Info` before it is free for another call."""


def _awaited(
    method: Callable[Concatenate[Engine, P], T],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The same method, awaited."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.wrap_future(
            self.submit(partial(method, self.engine, *args, **kwargs))
        )

    return call


def _searched(
    method: Callable[Concatenate[Engine, P], T],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, T]]:
    """The same method, awaited, whose search is stopped if it is cancelled."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        search = partial(method, self.engine, *args, **kwargs)
        block = self.engine.call()
        future = self.submit(partial(_in_call, block, search))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel():
                # Not in the event loop: an engine that does not read its input holds this up.
                Thread(target=_interrupt, args=(block,), daemon=True).start()
            raise

    return call


def _in_call(call: Call, search: Callable[[], T]) -> T:
    with call:
        return search()


def _interrupt(call: Call) -> None:
    with suppress(EngineError):
        call.interrupt()


def _stop_started(future: Future[Analysis]) -> None:
    """Stop an analysis whose caller was cancelled while it began."""
    with suppress(EngineError):
        if future.exception() is None:
            future.result().stop()


def _streamed(
    method: Callable[Concatenate[Engine, P], Analysis],
) -> Callable[Concatenate[AsyncEngine, P], Coroutine[Any, Any, AsyncAnalysis]]:
    """The same method, whose analysis is awaited."""

    @wraps(method)
    async def call(self: AsyncEngine, /, *args: P.args, **kwargs: P.kwargs) -> AsyncAnalysis:
        future = self.submit(partial(method, self.engine, *args, **kwargs))
        try:
            return AsyncAnalysis(self, await asyncio.wrap_future(future))
        except asyncio.CancelledError:
            if not future.cancel():
                with suppress(EngineTerminated):  # Closed meanwhile.
                    self.submit(partial(_stop_started, future))
            raise

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
    """A running analysis: ``async for`` gives each `Info`; leaving ``async with`` stops it.

    One task reads it. Cancelling `next` or `wait` neither ends the analysis nor loses an `Info`.
    """

    def __init__(self, engine: AsyncEngine, analysis: Analysis) -> None:
        self._engine = engine
        self._analysis = analysis
        self._reading: Future[Info | None] | None = None
        """The read that `next` waits for, or waited for when it was cancelled."""

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
        """Wait for the next `Info`; None once the analysis has ended.

        ``asyncio.wait_for(analysis.next(), seconds)`` polls it.
        """
        while True:
            if self._reading is None:
                self._reading = self._engine.submit(partial(self._analysis.next, POLL_SECONDS))
            try:
                info = await asyncio.shield(asyncio.wrap_future(self._reading))
            except Exception:  # Not when cancelled: the next call waits for the same read.
                self._reading = None
                raise
            self._reading = None
            if info is not None or not self._analysis.running:
                return info

    async def wait(self) -> Info:
        """Read to the end and return the best variation."""
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
    """`Engine` with awaitable methods. Make one with `AsyncEngine.popen`.

    ``engine`` is that engine, ``name`` and ``options`` are its own. Calls are carried out one after
    another. Cancelling one that searches stops the search, and the engine is free for the next.
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
    play = _searched(Engine.play)
    analyse = _searched(Engine.analyse)
    analysis = _streamed(Engine.analysis)

    def submit(self, action: Callable[[], T]) -> Future[T]:
        """Have the engine's thread do something, once it has done what was submitted before."""
        if self._closing is not None:
            raise EngineTerminated("it was closed")
        return self._thread.submit(action)

    def kill(self) -> None:
        """End the process at once: see `Engine.kill`; `close` must still be awaited."""
        self.engine.kill()

    async def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine within about ``patience`` seconds, and leave no process of it.

        A call in progress is not waited for; it raises `EngineTerminated` if the engine does not
        answer it first. The engine gets quit, then SIGTERM, then SIGKILL. Cancelling
        this ends the wait only; a second call waits again.
        """
        if self._closing is None:
            deadline = monotonic() + patience
            ended = self.submit(lambda: self.engine.close(max(0.0, deadline - monotonic())))
            self._closing = ended
            # A thread of its own: the engine's may wait for an answer that never comes.
            Thread(target=self._end, args=(ended, patience), name="closing").start()
        await asyncio.shield(asyncio.wrap_future(self._closing))

    def _end(self, ended: Future[None], patience: float) -> None:
        """End the engine, whatever its own thread is doing."""
        self.engine.connection.send_quit()
        wait([ended], patience)
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
