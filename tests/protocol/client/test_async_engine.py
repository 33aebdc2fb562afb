"""The asyncio client, with real engines."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from threading import Event
from time import sleep
from typing import Any, TypeVar

import pytest

from merels.engine.game.position import Move, Position
from merels.engine.search.limits import Limit
from merels.protocol.client.any_engine import PlayResult
from merels.protocol.client.async_engine import AsyncEngine
from merels.protocol.client.connection import Connection
from merels.protocol.process.errors import EngineError, EngineTerminated
from tests.processes import FAKE
from tests.protocol.board.webdriver import wait
from tests.protocol.client.test_engine import MERELS

pytestmark = pytest.mark.usefixtures("nothing_is_left")
T = TypeVar("T")


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs in an event loop."""
    return wraps(test)(lambda: asyncio.run(test()))


@in_loop
async def test_two_engines_at_once() -> None:
    async with await AsyncEngine.popen(MERELS) as one, await AsyncEngine.popen(MERELS) as two:
        await one.configure({"Hash": 2})
        await asyncio.gather(one.new_game(), two.new_game(), one.ping())
        results = await asyncio.gather(
            one.play(Position(), Limit(depth=3)), two.play(Position(), Limit(depth=4))
        )
        assert [result.info.depth for result in results] == [3, 4]
        several = await one.analyse(Position(), Limit(depth=2), multipv=2)
        assert len(several) == 2
        assert one.name == two.name and "hash" in one.options


@in_loop
async def test_a_stream_that_is_left_is_stopped() -> None:
    async with await AsyncEngine.popen(MERELS) as engine:
        async with await engine.analysis(Position()) as analysis:
            count = 0
            async for info in analysis:
                count += 1
                if count == 4:
                    break
        assert analysis.info.depth is not None
        analysis = await engine.analysis(Position())
        asyncio.get_running_loop().call_later(0.1, analysis.stop)
        assert (await analysis.wait()).score is not None
        assert (await engine.play(Position(), Limit(depth=2))).move is not None


@in_loop
async def test_a_cancelled_search_frees_the_engine() -> None:
    async with await AsyncEngine.popen(MERELS) as engine:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.play(Position(), Limit(time=1000)), 0.2)
        play = engine.play(Position(), Limit(depth=2))
        assert (await asyncio.wait_for(play, 10)).move is not None


def test_a_stop_never_reaches_the_search_after_the_one_that_it_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []
    second = Event()

    def trace(way: str, data: bytes) -> None:
        if way == ">":
            sent.append(data.split()[-1])
            if data.endswith(b"go depth 2\n"):
                second.set()

    stop_search = Connection.stop_search

    def slowly(engine: Connection, search: int) -> None:
        second.wait(1.0)  # The first search ends by itself meanwhile.
        stop_search(engine, search)

    monkeypatch.setattr(Connection, "stop_search", slowly)

    async def talk() -> None:
        async with await AsyncEngine.popen(MERELS, trace=trace) as engine:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.play(Position(), Limit(time=0.3)), 0.1)
            await engine.play(Position(), Limit(depth=2))

    asyncio.run(talk())
    assert b"stop" in sent and sent.index(b"2") > len(sent) - 1 - sent[::-1].index(b"stop")


class Sent:
    """Lines that are sent to an engine, as its trace."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, way: str, data: bytes) -> None:
        if way == ">":
            self.lines += data.decode().splitlines()

    def count(self, start: str) -> int:
        """How many lines begin with a word."""
        return sum(line.split(" ", 1)[0] == start for line in self.lines)

    async def wait(self, start: str, number: int = 1) -> None:
        """Wait for as many lines that begin with a word."""
        for _ in range(2000):
            if self.count(start) >= number:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"no {start} {number}: {self.lines}")


async def soon(awaited: Awaitable[T]) -> T:
    """The result of something that would not end if it had a fault."""
    return await asyncio.wait_for(awaited, 20)


def is_gone(engine: AsyncEngine) -> bool:
    """Whether the process has ended and was reaped."""
    try:
        os.kill(engine.engine.pid, 0)
    except ProcessLookupError:
        return True
    return False


async def stuck(*mode: str) -> tuple[AsyncEngine, asyncio.Task[PlayResult], Sent]:
    """A fake engine, and a search that it does not answer."""
    sent = Sent()
    engine = await AsyncEngine.popen([*FAKE, *mode], trace=sent)
    searches = 2 if mode[0] in ("deaf", "die-search") else 1
    for _ in range(1, searches):
        await engine.play(Position(), Limit(nodes=1))
    search = asyncio.create_task(engine.play(Position(), Limit(nodes=1)))
    await sent.wait("go", searches)
    return engine, search, sent


@pytest.mark.parametrize(
    "mode",
    [("never",), ("deaf",), ("deaf", "stubborn"), ("stops-only", "0.1"), ("die-search", "1")],
    ids=" ".join,
)
def test_close_ends_an_engine_that_does_not_answer(mode: tuple[str, ...]) -> None:
    async def talk() -> None:
        engine, search, _ = await stuck(*mode)
        await soon(engine.close(0.3))
        assert is_gone(engine)
        if mode[0] == "stops-only":  # It is told to stop before it is told to quit.
            assert (await search).move is not None
        else:
            with pytest.raises(EngineTerminated):
                await search
        await soon(engine.close())

    asyncio.run(talk())


@in_loop
async def test_a_close_that_is_cancelled_goes_on_and_can_be_repeated() -> None:
    engine, search, sent = await stuck("deaf", "stubborn")
    for _ in range(2):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.close(0.5), 0.01)
    with pytest.raises(EngineTerminated, match="it was closed"):
        await engine.ping()
    await soon(engine.close())
    assert is_gone(engine) and search.done() and sent.count("quit") == 1
    with pytest.raises(EngineTerminated):
        await search


def test_a_close_that_is_cancelled_leaves_nothing() -> None:
    async def talk() -> AsyncEngine:
        engine = await AsyncEngine.popen([*FAKE, "stubborn"])
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.close(0.2), 0.01)
        return engine

    engine = asyncio.run(talk())
    wait(lambda: is_gone(engine), 20, "its end")


@in_loop
async def test_kill_ends_a_call_in_progress_and_a_close() -> None:
    engine, search, _ = await stuck("deaf", "stubborn")
    closing = asyncio.create_task(engine.close(60))
    await asyncio.sleep(0)
    engine.kill()
    with pytest.raises(EngineTerminated, match="SIGKILL"):
        await soon(search)
    await soon(closing)
    assert is_gone(engine)


@in_loop
async def test_a_cancelled_search_is_stopped_once() -> None:
    sent = Sent()
    async with await AsyncEngine.popen([*FAKE, "stops-only", "0.6"], trace=sent) as engine:
        for number in (1, 2):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.play(Position(), Limit(depth=1)), 0.2)
            await soon(engine.ping())
            assert sent.count("stop") == number


@in_loop
async def test_an_analysis_that_is_cancelled_while_it_starts_is_stopped() -> None:
    sent, begin = Sent(), Event()

    def held() -> Iterator[Move]:
        begin.wait(20)
        yield from ()

    async with await AsyncEngine.popen(MERELS, trace=sent) as engine:
        starting = asyncio.create_task(engine.analysis(Position(), moves=held()))
        await asyncio.sleep(0.1)
        starting.cancel()
        begin.set()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await sent.wait("stop")
        # It has begun, and the task does not know it yet.
        starting = asyncio.create_task(engine.analysis(Position()))
        await asyncio.sleep(0)
        while sent.count("go") < 2:
            sleep(0.01)
        sleep(0.2)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await sent.wait("stop", 2)
        assert (await soon(engine.play(Position(), Limit(depth=2)))).move is not None


@in_loop
async def test_an_analysis_can_be_polled() -> None:
    async with await AsyncEngine.popen([*FAKE, "stops-only"]) as engine:
        async with await engine.analysis(Position()) as analysis:
            for _ in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(analysis.next(), 0.01)
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(analysis.wait(), 0.01)
            await soon(engine.ping())
            analysis.stop()
            assert await soon(analysis.next()) is not None
            assert await soon(analysis.next()) is None


@in_loop
async def test_polling_loses_nothing() -> None:
    async with await AsyncEngine.popen(MERELS) as engine:
        async with await engine.analysis(Position()) as analysis:
            depths: list[int | None] = []
            while len(depths) < 8:
                with suppress(asyncio.TimeoutError):
                    info = await asyncio.wait_for(analysis.next(), 0.001)
                    assert info is not None
                    depths.append(info.depth)
        assert depths == list(range(1, 9))


@in_loop
async def test_another_call_need_not_wait_for_an_analysis_that_is_read() -> None:
    async with await AsyncEngine.popen([*FAKE, "stops-only"]) as engine:
        analysis = await engine.analysis(Position())
        reading = asyncio.create_task(analysis.wait())
        await asyncio.sleep(0.05)
        await soon(engine.ping())
        assert not reading.done()
        await soon(engine.new_game())
        assert (await soon(reading)).depth == 3


@in_loop
async def test_an_error_of_an_analysis_comes_through() -> None:
    async with await AsyncEngine.popen([*FAKE, "die-search", "1"]) as engine:
        await engine.play(Position(), Limit(nodes=1))
        analysis = await engine.analysis(Position())
        assert await soon(analysis.next()) is not None
        with pytest.raises(EngineTerminated, match="exit code 1"):
            await soon(analysis.next())


@in_loop
async def test_errors_come_through() -> None:
    with pytest.raises(EngineError, match="no-such-engine"):
        await AsyncEngine.popen("no-such-engine")
    async with await AsyncEngine.popen([*FAKE, "die-search", "1"]) as engine:
        await engine.play(Position(), Limit(nodes=1))
        with pytest.raises(EngineTerminated, match="exit code 1"):
            await engine.play(Position(), Limit(nodes=1))


@pytest.mark.thorough
@in_loop
async def test_a_start_that_is_cancelled_leaves_nothing() -> None:
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(AsyncEngine.popen([*FAKE, "mute"], timeout=1.0), 0.2)
    await asyncio.sleep(1.2)


@in_loop
async def test_an_engine_may_be_closed_twice() -> None:
    async with await AsyncEngine.popen(MERELS) as engine:
        await engine.close()
        with pytest.raises(EngineTerminated, match="closed"):
            await engine.ping()


@in_loop
async def test_any_error_in_its_block_stops_a_stream() -> None:
    async with await AsyncEngine.popen(MERELS) as engine:
        with pytest.raises(EngineError, match="another engine's"):
            async with await engine.analysis(Position()) as analysis:
                raise EngineError("another engine's mistake")
        assert await analysis.next() is None
        assert (await engine.play(Position(), Limit(depth=2))).move is not None


def test_a_search_is_stopped_that_begins_when_the_loop_has_gone() -> None:
    code = f"""
import asyncio, time
from merels.engine.game.position import Position
from merels.protocol.client.async_engine import AsyncEngine
from merels.engine.search.limits import Limit

def slowly():
    time.sleep(0.5)
    yield from ()

async def talk():
    engine = await AsyncEngine.popen({MERELS!r})
    search = asyncio.create_task(engine.play(Position(), Limit(depth=100), moves=slowly()))
    await asyncio.sleep(0.1)

asyncio.run(talk())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
