"""The asyncio client with real engine processes: merels itself, and fakes with faults."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from threading import Event
from time import monotonic, sleep
from typing import Any, TypeVar

import pytest

from merels.engine.game.position import Move, Position
from merels.engine.search.limits import Limit
from merels.protocol.client.any_engine import Analysis, PlayResult
from merels.protocol.client.async_engine import AsyncAnalysis, AsyncEngine
from merels.protocol.client.connection import Connection
from merels.protocol.process.errors import EngineError, EngineTerminated
from tests.kit.fakes import FAULTS, fake
from tests.kit.waiting import wait
from tests.protocol.gui import ENGINE

pytestmark = pytest.mark.usefixtures("no_engine_is_left")
T = TypeVar("T")
DEAF_AND_STUBBORN = f"go#2: hang; {FAULTS['stubborn']}"


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Return a test that runs the coroutine function ``test`` in an event loop."""
    return wraps(test)(lambda: asyncio.run(test()))


@in_loop
async def test_two_engines_search_concurrently() -> None:
    async with await AsyncEngine.popen(ENGINE) as white, await AsyncEngine.popen(ENGINE) as black:
        await white.configure({"Hash": 2})
        await asyncio.gather(white.new_game(), black.new_game(), white.ping())
        results = await asyncio.gather(
            white.play(Position(), Limit(depth=3)), black.play(Position(), Limit(depth=4))
        )
        assert [result.info.depth for result in results] == [3, 4]
        variations = await white.analyse(Position(), Limit(depth=2), multipv=2)
        assert len(variations) == 2
        assert white.name == black.name and "hash" in white.options


@in_loop
async def test_leaving_the_block_of_an_analysis_stops_it() -> None:
    async with await AsyncEngine.popen(ENGINE) as engine:
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


class SlowAnalysis(Analysis):
    """An analysis of an engine that does not read its input until ``reads`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.reads, self.has_stopped = Event(), Event()

    def stop(self) -> None:
        assert self.reads.wait(5)
        self.has_stopped.set()


@in_loop
async def test_stopping_an_analysis_does_not_block_the_event_loop() -> None:
    analysis = SlowAnalysis()
    async with await AsyncEngine.popen(ENGINE) as engine:
        AsyncAnalysis(engine, analysis).stop()
        analysis.reads.set()
        assert await asyncio.to_thread(analysis.has_stopped.wait, 10)


@in_loop
async def test_a_cancelled_search_frees_the_engine() -> None:
    async with await AsyncEngine.popen(ENGINE) as engine:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.play(Position(), Limit(time=1000)), 0.2)
        play = engine.play(Position(), Limit(depth=2))
        assert (await asyncio.wait_for(play, 10)).move is not None


def test_a_late_stop_does_not_stop_the_next_search(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    first_search_answered, second_search_sent = Event(), Event()

    def trace(direction: str, data: bytes) -> None:
        if direction == ">":
            sent.append(data.split()[-1])
            if data.endswith(b"go depth 2\n"):
                second_search_sent.set()
        elif b"bestmove" in data:
            first_search_answered.set()

    stop_search = Connection.stop_search

    def stop_late(engine: Connection, search: int) -> None:
        assert first_search_answered.wait(20), "the first search reaches its time limit"
        second_search_sent.wait(0.5)
        stop_search(engine, search)

    monkeypatch.setattr(Connection, "stop_search", stop_late)

    async def search_twice() -> None:
        async with await AsyncEngine.popen(ENGINE, trace=trace) as engine:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.play(Position(), Limit(time=1.0)), 0.1)
            await engine.play(Position(), Limit(depth=2))

    asyncio.run(search_twice())
    assert b"stop" in sent and b"stop" not in sent[sent.index(b"2") :]


class Sent:
    """A trace that keeps the lines sent to an engine."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, direction: str, data: bytes) -> None:
        if direction == ">":
            self.lines += data.decode().splitlines()

    def count(self, word: str) -> int:
        """Return the number of lines that begin with ``word``."""
        return sum(line.split(" ", 1)[0] == word for line in self.lines)

    async def wait(self, word: str, number: int = 1) -> None:
        """Wait until ``number`` lines that begin with ``word`` were sent."""
        for _ in range(2000):
            if self.count(word) >= number:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{word} was not sent {number} times: {self.lines}")


async def in_time(awaited: Awaitable[T]) -> T:
    """Return the result of an awaitable; fail after 20 seconds."""
    return await asyncio.wait_for(awaited, 20)


def is_reaped(engine: AsyncEngine) -> bool:
    """Return whether the engine's process has ended and was reaped."""
    try:
        os.kill(engine.engine.pid, 0)
    except ProcessLookupError:
        return True
    return False


async def unanswered_search(script: str) -> tuple[AsyncEngine, asyncio.Task[PlayResult], Sent]:
    """Return a fake engine, a search that it leaves unanswered, and the lines sent."""
    sent = Sent()
    engine = await AsyncEngine.popen(fake(script), trace=sent)
    searches = 2 if script.startswith(("go#2", "die-search")) else 1
    for _ in range(1, searches):
        await engine.play(Position(), Limit(nodes=1))
    search = asyncio.create_task(engine.play(Position(), Limit(nodes=1)))
    await sent.wait("go", searches)
    return engine, search, sent


@pytest.mark.parametrize(
    "script",
    ["never", "go#2: hang", DEAF_AND_STUBBORN, "stops-only 0.1", "die-search 1"],
)
def test_close_ends_an_engine_that_does_not_answer(script: str) -> None:
    async def close_stuck_engine() -> None:
        engine, search, _ = await unanswered_search(script)
        # This engine answers the "stop" that is sent before "quit".
        answers = script.startswith("stops-only")
        await in_time(engine.close(10.0 if answers else 0.3))
        assert is_reaped(engine)
        if answers:
            assert (await search).move is not None
        else:
            with pytest.raises(EngineTerminated):
                await search
        await in_time(engine.close())

    asyncio.run(close_stuck_engine())


@in_loop
async def test_close_waits_only_for_the_patience_that_is_left() -> None:
    engine, patience = await AsyncEngine.popen(fake()), list[float]()
    close = engine.engine.close

    def record(seconds: float) -> None:
        patience.append(seconds)
        close(seconds)

    engine.engine.close = record  # type: ignore[method-assign]
    await in_time(engine.close(0.0))
    assert patience == [0.0] and is_reaped(engine)


@in_loop
async def test_a_cancelled_close_continues_and_can_be_repeated() -> None:
    engine, search, sent = await unanswered_search(DEAF_AND_STUBBORN)
    for _ in range(2):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.close(0.5), 0.01)
    with pytest.raises(EngineTerminated, match="closed by this program"):
        await engine.ping()
    await in_time(engine.close())
    assert is_reaped(engine) and search.done() and sent.count("quit") == 1
    with pytest.raises(EngineTerminated):
        await search


def test_a_cancelled_close_leaves_no_process_when_the_loop_ends() -> None:
    async def cancel_close() -> AsyncEngine:
        engine = await AsyncEngine.popen(fake("stubborn"))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(engine.close(0.2), 0.01)
        return engine

    engine = asyncio.run(cancel_close())
    wait(lambda: is_reaped(engine), 20, "the end of the process")


@in_loop
async def test_kill_ends_a_running_search_and_a_running_close() -> None:
    engine, search, _ = await unanswered_search(DEAF_AND_STUBBORN)
    closing = asyncio.create_task(engine.close(60))
    await asyncio.sleep(0)
    engine.kill()
    with pytest.raises(EngineTerminated, match="SIGKILL"):
        await in_time(search)
    await in_time(closing)
    assert is_reaped(engine)


@in_loop
async def test_a_cancelled_search_is_stopped_once() -> None:
    sent = Sent()
    async with await AsyncEngine.popen(fake("stops-only 0.6"), trace=sent) as engine:
        for number in (1, 2):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(engine.play(Position(), Limit(depth=1)), 0.2)
            await in_time(engine.ping())
            assert sent.count("stop") == number


@in_loop
async def test_an_analysis_that_is_cancelled_while_it_starts_is_stopped() -> None:
    sent, started, released = Sent(), Event(), Event()

    def blocking_moves() -> Iterator[Move]:
        started.set()
        released.wait(20)
        yield from ()

    async with await AsyncEngine.popen(ENGINE, trace=sent) as engine:
        starting = asyncio.create_task(engine.analysis(Position(), moves=blocking_moves()))
        assert await asyncio.to_thread(started.wait, 20)
        starting.cancel()
        released.set()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await sent.wait("stop")
        # Cancel after "go" was sent, but before the event loop has resumed the task.
        starting = asyncio.create_task(engine.analysis(Position()))
        await asyncio.sleep(0)
        wait(lambda: sent.count("go") == 2, 20, "the second go")
        sleep(0.2)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await sent.wait("stop", 2)
        assert (await in_time(engine.play(Position(), Limit(depth=2)))).move is not None


@in_loop
async def test_next_and_wait_of_an_analysis_can_time_out() -> None:
    async with await AsyncEngine.popen(fake("stops-only")) as engine:
        async with await engine.analysis(Position()) as analysis:
            for _ in range(3):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(analysis.next(), 0.01)
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(analysis.wait(), 0.01)
            await in_time(engine.ping())
            analysis.stop()
            assert await in_time(analysis.next()) is not None
            assert await in_time(analysis.next()) is None


@in_loop
async def test_a_next_that_times_out_loses_no_report() -> None:
    async with await AsyncEngine.popen(ENGINE) as engine:
        async with await engine.analysis(Position()) as analysis:
            depths: list[int | None] = []
            deadline = monotonic() + 60
            while len(depths) < 8:
                assert monotonic() < deadline, depths
                with suppress(asyncio.TimeoutError):
                    info = await asyncio.wait_for(analysis.next(), 0.001)
                    assert info is not None
                    depths.append(info.depth)
        assert depths == list(range(1, 9))


@in_loop
async def test_other_calls_run_while_an_analysis_is_read() -> None:
    async with await AsyncEngine.popen(fake("stops-only")) as engine:
        analysis = await engine.analysis(Position())
        reading = asyncio.create_task(analysis.wait())
        await asyncio.sleep(0.05)
        await in_time(engine.ping())
        assert not reading.done()
        await in_time(engine.new_game())
        assert (await in_time(reading)).depth == 3


@in_loop
async def test_reading_an_analysis_raises_the_engine_s_error() -> None:
    async with await AsyncEngine.popen(fake("die-search 1")) as engine:
        await engine.play(Position(), Limit(nodes=1))
        analysis = await engine.analysis(Position())
        assert await in_time(analysis.next()) is not None
        with pytest.raises(EngineTerminated, match="exit code 1"):
            await in_time(analysis.next())


@in_loop
async def test_popen_and_play_raise_the_engine_s_error() -> None:
    with pytest.raises(EngineError, match="no-such-engine"):
        await AsyncEngine.popen("no-such-engine")
    async with await AsyncEngine.popen(fake("die-search 1")) as engine:
        await engine.play(Position(), Limit(nodes=1))
        with pytest.raises(EngineTerminated, match="exit code 1"):
            await engine.play(Position(), Limit(nodes=1))


@pytest.mark.thorough
@in_loop
async def test_a_cancelled_start_leaves_no_process() -> None:
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(AsyncEngine.popen(fake("mute"), timeout=1.0), 0.2)
    await asyncio.sleep(1.2)


@in_loop
async def test_an_error_in_the_block_of_an_analysis_stops_it() -> None:
    async with await AsyncEngine.popen(ENGINE) as engine:
        with pytest.raises(EngineError, match="another engine's"):
            async with await engine.analysis(Position()) as analysis:
                raise EngineError("another engine's mistake")
        assert await analysis.next() is None
        assert (await engine.play(Position(), Limit(depth=2))).move is not None


def test_a_search_that_starts_after_the_event_loop_was_closed_is_stopped() -> None:
    code = f"""
import asyncio, time
from merels.engine.game.position import Position
from merels.protocol.client.async_engine import AsyncAnalysis, AsyncEngine
from merels.engine.search.limits import Limit


def slow_moves():
    time.sleep(0.5)
    yield from ()

async def start_search():
    engine = await AsyncEngine.popen({ENGINE!r})
    search = asyncio.create_task(engine.play(Position(), Limit(depth=100), moves=slow_moves()))
    await asyncio.sleep(0.1)

asyncio.run(start_search())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
