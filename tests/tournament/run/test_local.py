"""Local worker processes: calls, failures, and pinning."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from merels.tournament.run import tasks
from merels.tournament.run.local import LocalWorkers
from merels.tournament.run.tasks import Event, Failed, Played, Returned


@pytest.fixture
def workers() -> Iterator[LocalWorkers]:
    local = LocalWorkers(1)
    yield local
    local.close()


def call(workers: LocalWorkers, function: Callable[..., Any], *arguments: Any) -> list[Event]:
    """Make a call; return the events until its result."""
    workers.give(7, function, *arguments)
    events: list[Event] = []
    while not events or not isinstance(events[-1], Returned | Failed):
        events += workers.events(60.0)
    assert workers.has_room
    return events


def test_a_call_returns_the_value_of_its_function(workers: LocalWorkers) -> None:
    assert call(workers, divmod, 7, 2) == [Returned(7, (3, 1))]
    (returned,) = call(workers, os.getpid)
    assert isinstance(returned, Returned) and returned.value != os.getpid()


def test_a_call_that_raises_fails_only_itself(workers: LocalWorkers) -> None:
    assert call(workers, divmod, 1, 0) == [
        Failed(7, "ZeroDivisionError: integer division or modulo by zero")
    ]
    assert call(workers, divmod, 7, 2) == [Returned(7, (3, 1))]


def test_output_of_a_call_does_not_disturb_the_events(workers: LocalWorkers) -> None:
    assert call(workers, print, "hello") == [Returned(7, None)]
    assert call(workers, os.write, 1, b"hello\n") == [Returned(7, 6)]


def test_a_worker_that_ends_fails_its_call_and_is_replaced(workers: LocalWorkers) -> None:
    assert call(workers, os._exit, 3) == [
        Failed(7, "a worker process ended (exit code 3)", is_broken=True)
    ]
    assert call(workers, abs, -5) == [Returned(7, 5)]


def report_and_return(number: int) -> int:
    assert tasks.worker is not None
    tasks.worker.report(Played(number, 0, (), 0))
    return number


def test_events_come_before_the_result_of_their_call(workers: LocalWorkers) -> None:
    assert call(workers, report_and_return, 3) == [Played(3, 0, (), 0), Returned(7, 3)]


def test_kill_ends_calls_in_progress() -> None:
    workers = LocalWorkers(2)
    for number in (1, 2):
        workers.give(number, time.sleep, 1000)
    assert not workers.has_room
    workers.kill()


def is_stopping() -> bool:
    assert tasks.worker is not None
    return tasks.worker.stopping.wait(60)


def test_a_worker_that_starts_after_finish_games_plays_no_game(workers: LocalWorkers) -> None:
    workers.finish_games()
    assert call(workers, is_stopping) == [Returned(7, True)]


def leads_session() -> bool:
    return os.getpid() == os.getsid(0) == os.getpgid(0)


@pytest.mark.skipif(os.name != "posix", reason="sessions")
def test_a_worker_does_not_get_the_interrupts_of_the_terminal(workers: LocalWorkers) -> None:
    assert call(workers, leads_session) == [Returned(7, True)]


@pytest.mark.skipif(os.name != "posix", reason="needs process groups")
def test_an_interrupt_during_the_start_of_the_first_worker_does_not_reach_it() -> None:
    script = """
import os, signal
from merels.tournament.run.local import LocalWorkers

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: None)
    workers = LocalWorkers(1)
    workers.give(7, abs, -5)
    os.killpg(0, signal.SIGINT)
    print(*workers.events(60.0))
    workers.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, start_new_session=True
    )
    assert (done.stdout, done.stderr) == ("Returned(call=7, value=5)\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="pins processes to cores")
def test_workers_are_pinned() -> None:
    cores = tuple(sorted(os.sched_getaffinity(0)))
    for pinned, expected in (([cores], cores), ([cores[-1:]], cores[-1:]), ((), cores)):
        workers = LocalWorkers(1, pinned)
        assert call(workers, os.sched_getaffinity, 0) == [Returned(7, set(expected))]
        workers.close()
