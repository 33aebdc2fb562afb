"""The local executor: calls, failures, and pinning of workers."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.run import worker_pool
from merels.tournament.run.channel import Call
from merels.tournament.run.worker_pool import CallFailed, LocalPool

pytestmark = pytest.mark.thorough

SEND_REPORT = "from merels.tournament.run import tasks; tasks.worker.report('a report')"
"""Code that a worker runs to send a report to the runner."""
WAIT_FOR_FILE = "import os, time\nwhile not os.path.exists(path):\n    time.sleep(0.01)"
"""Code that a worker runs until the file ``path`` exists."""


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    with LocalPool(2, print) as local_pool:
        yield local_pool


def wait_until_running(*calls: Future[Any]) -> None:
    deadline = time.monotonic() + 30
    while not all(call.running() for call in calls):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_calls_return_the_value_of_their_function(pool: LocalPool) -> None:
    assert list(pool.map(divmod, range(20), [3] * 20)) == [divmod(n, 3) for n in range(20)]
    workers = {pool.submit(os.getpid).result(30) for _ in range(20)}
    assert os.getpid() not in workers and len(workers) <= 2


def test_a_failed_call_raises_with_its_traceback(pool: LocalPool) -> None:
    with pytest.raises(CallFailed, match="(?s)Traceback.*ZeroDivisionError"):
        pool.submit(divmod, 1, 0).result(30)
    assert pool.submit(divmod, 7, 2).result(30) == (3, 1)


def test_an_argument_that_cannot_be_pickled_fails_only_its_call(pool: LocalPool) -> None:
    with pytest.raises(Exception, match="pickle"):
        pool.submit(abs, lambda: 0).result(30)
    with pytest.raises(CallFailed, match="pickle"):
        pool.submit(threading.Lock).result(30)
    assert pool.submit(divmod, 7, 2).result(30) == (3, 1)


def test_a_report_that_raises_fails_only_its_call() -> None:
    def report(content: Any) -> None:
        raise ZeroDivisionError("cannot take this report")

    with LocalPool(1, report) as pool:
        with pytest.raises(ZeroDivisionError):
            pool.submit(exec, SEND_REPORT).result(30)
        assert pool.submit(divmod, 7, 2).result(30) == (3, 1)


def test_output_of_a_call_does_not_disturb_the_protocol(pool: LocalPool) -> None:
    assert pool.submit(print, "hello").result(30) is None
    assert pool.submit(os.write, 1, b"hello\n").result(30) == 6


def test_a_dead_worker_is_replaced(pool: LocalPool) -> None:
    with pytest.raises(BrokenExecutor):
        pool.submit(os._exit, 3).result(30)
    assert [pool.submit(abs, -n).result(30) for n in range(6)] == list(range(6))


def test_kill_ends_running_calls_and_cancels_queued_ones() -> None:
    pool = LocalPool(2, print)
    futures = [pool.submit(time.sleep, 60) for _ in range(4)]
    wait_until_running(*futures[:2])
    pool.kill()
    assert isinstance(futures[0].exception(0), BrokenExecutor) and futures[3].cancelled()


def test_finish_games_cancels_the_queued_calls(tmp_path: Path) -> None:
    end = tmp_path / "end"
    with LocalPool(1, print) as pool:
        running = pool.submit(exec, WAIT_FOR_FILE, {"path": str(end)})
        queued = pool.submit(abs, -1)
        wait_until_running(running)
        pool.finish_games()
        end.touch()
        assert queued.cancelled() and running.result(30) is None


@pytest.mark.skipif(sys.platform != "linux", reason="pins processes to cores")
def test_a_worker_that_starts_after_finish_games_plays_no_game() -> None:
    """An interrupt may come after a call was taken, before its worker is started."""
    stopping = "__import__('merels.tournament.run.tasks', fromlist=['x']).worker.stopping.is_set()"
    slot = worker_pool._Slot((), None, False)
    slot.ask_to_leave(quit=False)
    assert slot.call(Call(eval, (stopping,), {}), print)
    slot.ask_to_leave(quit=True)
    slot.reap(60)


def test_workers_are_pinned() -> None:
    cores = tuple(sorted(os.sched_getaffinity(0)))
    for pinned, expected in (([cores], cores), ([cores[-1:]], cores[-1:]), ((), cores)):
        with LocalPool(1, print, pinned) as pool:
            assert pool.submit(os.sched_getaffinity, 0).result(30) == set(expected)
