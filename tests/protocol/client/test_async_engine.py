"""The asyncio client, with real engines."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from functools import wraps
from threading import Event
from typing import Any

import pytest

from merels.engine.game.position import Position
from merels.engine.search.limits import Limit
from merels.protocol.client.async_engine import AsyncEngine
from merels.protocol.client.connection import Connection
from merels.protocol.process.errors import EngineError, EngineTerminated
from tests.processes import FAKE
from tests.protocol.client.test_engine import MERELS

pytestmark = pytest.mark.usefixtures("nothing_is_left")


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
