"""The order in which local workers take calls."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from merels.tournament.pairing.schedule import circle
from merels.tournament.play.engine_cache import KEPT
from merels.tournament.records.games import PairTask
from merels.tournament.run.call_queue import CallQueue, EngineHistory
from merels.tournament.run.channel import Call
from tests.tournament.specs import engine, game

ENGINES = 64


def starts_and_delay(ahead: int) -> tuple[int, int]:
    """Return the number of engine starts in a round robin, and a pair's longest delay in turns.

    Two workers, each of which keeps `KEPT` engines, take pairs in turn. The queue holds up
    to ``1 + ahead`` pairs.
    """
    tasks = [
        PairTask((game(engine(f"E{first}"), engine(f"E{second}")),))
        for meetings in circle(ENGINES) for first, second in meetings
    ]
    queue, histories = CallQueue(2 * ahead), (EngineHistory(), EngineHistory())
    running: tuple[list[str], list[str]] = ([], [])
    started = delay = 0
    for task in tasks[: 1 + ahead]:
        queue.put(Future(), Call(print, (task,), {}))
    for turn in range(len(tasks)):
        taken = queue.take(histories[turn % 2])
        assert taken is not None
        task = taken[1].arguments[0]
        delay = max(delay, turn - tasks.index(task))
        kept = running[turn % 2]
        for name in task.engines:
            if name in kept:
                kept.remove(name)
            else:
                started += 1
            kept.append(name)
        del kept[:-KEPT]
        for following in tasks[turn + ahead + 1 : turn + ahead + 2]:
            queue.put(Future(), Call(print, (following,), {}))
    return started, delay


def test_workers_take_pairs_whose_engines_they_run() -> None:
    pairs = ENGINES * (ENGINES - 1) // 2
    started, _ = starts_and_delay(ahead=1)
    assert started > 1.8 * pairs
    started, delay = starts_and_delay(ahead=ENGINES)
    assert started < pairs and delay <= 2 * ENGINES


def test_calls_without_engines_are_taken_in_their_order() -> None:
    queue = CallQueue(patience=9)
    for number in range(3):
        queue.put(Future(), Call(print, (number,), {}))
    taken = [queue.take(EngineHistory()) for _ in range(3)]
    assert [item[1].arguments[0] for item in taken if item is not None] == [0, 1, 2]
    queue.close()
    assert queue.take(EngineHistory()) is None


@pytest.mark.parametrize("is_closed", [False, True])
def test_queued_calls_are_cancelled(is_closed: bool) -> None:
    queue = CallQueue(patience=9)
    future: Future[None] = Future()
    queue.put(future, Call(print, (), {}))
    if is_closed:
        queue.close()
    queue.cancel()
    assert future.cancelled()
