"""The table of pairs: what is handed out, what waits, and engines that do not start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from merels.tournament.pairing.schedule import circle
from merels.tournament.play.engine_cache import MAX_IDLE_ENGINES
from merels.tournament.records.games import GameSpec, PairTask
from merels.tournament.run import pairs, tasks
from merels.tournament.run.pairs import PairTable
from merels.tournament.run.plan import Plan
from merels.tournament.run.tasks import PairReport, Place
from tests.tournament.specs import engine, game, planned_games, settings

WORKER, SAME_NODE, OTHER_NODE = Place("node1", 1), Place("node1", 3), Place("node2", 2)
MISSING = "does not start (exit code 127: no such file)"
FAILURE = {"A": MISSING}


def planned_tasks(count: int) -> list[PairTask]:
    games = list(planned_games(Plan(settings(rounds=count))))
    return [PairTask(tuple(games[first : first + 2])) for first in range(0, len(games), 2)]


def pair_of_a_and_b() -> PairTask:
    return planned_tasks(1)[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> float:
    """Stop the clock of the pauses, and return its time."""
    now = pairs.monotonic()
    set_clock(monkeypatch, now)
    return now


def set_clock(monkeypatch: pytest.MonkeyPatch, now: float) -> None:
    """Set the clock of the pauses, in seconds."""
    for module in (pairs, tasks):
        monkeypatch.setattr(module, "monotonic", lambda: now)


def test_a_failed_start_is_the_fault_of_the_worker_if_the_engine_starts_elsewhere(
    clock: float
) -> None:
    table = PairTable(is_match=True)
    table.add(pair_of_a_and_b())
    assert table.start(["A", "B"], OTHER_NODE) == []
    assert table.fail_start(FAILURE, WORKER) == [
        f"node1 (process 1): engine A {MISSING}; this worker gets no games for now"
    ]
    assert table.take() == pair_of_a_and_b()
    assert table.start(["A", "B"], OTHER_NODE) == []
    assert table.fail_start(FAILURE, WORKER) == [], "reported only once"
    assert table.start(["A", "B"], WORKER) == ["node1 (process 1): engine A starts again"]
    (notice,) = PairTable(is_match=False).fail_start(FAILURE, WORKER)
    assert notice.endswith("; this worker gets no games of A for now")


def test_a_worker_returns_games_of_a_failing_engine_unplayed_during_a_pause(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def fail(spec: GameSpec) -> tuple[dict[str, str], tuple[str, ...]]:
        tried.append(spec.number)
        return FAILURE, ()

    monkeypatch.setattr(tasks, "_pauses", {})
    monkeypatch.setattr(tasks, "_try_engines", fail)
    monkeypatch.setattr(tasks, "HAND_BACK_SECONDS", 0.0)
    task = pair_of_a_and_b()
    assert tasks.play_pair(task).failures == FAILURE
    assert tasks.play_pair(task) == PairReport(tasks.this_place()) and len(tried) == 1
    set_clock(monkeypatch, clock + tasks.PAUSE_SECONDS)
    assert tasks.play_pair(task).failures == FAILURE and len(tried) == 2


def test_failed_starts_on_two_nodes_are_the_fault_of_the_engine(clock: float) -> None:
    table = PairTable(is_match=True)
    table.add(pair_of_a_and_b())
    table.fail_start(FAILURE, WORKER)
    table.fail_start(FAILURE, SAME_NODE)
    assert table.fail_start(FAILURE, OTHER_NODE) == [
        f"node2 (process 2): engine A {MISSING}; this worker gets no games for now",
        f"engine A {MISSING}; its games wait, and it is tried again",
    ]
    assert table.take() is None and table.may_go_on


def test_a_second_failure_on_one_worker_is_the_fault_of_the_engine(clock: float) -> None:
    table = PairTable(is_match=True)
    table.add(pair_of_a_and_b())
    assert len(table.fail_start(FAILURE, WORKER)) == 1
    assert table.fail_start(FAILURE, WORKER) == [
        f"engine A {MISSING}; its games wait, and it is tried again"
    ]
    assert table.take() is None and table.may_go_on


def test_one_pair_tries_an_engine_again_even_if_an_earlier_pair_returns_meanwhile(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, planned = PairTable(is_match=True), planned_tasks(4)
    for task in planned:
        table.add(task)
    assert [table.take(), table.take()] == planned[:2]
    for returned, taken in ((1, planned[0]), (2, None), (1, planned[1])):
        table.fail_start(FAILURE, None)
        table.put_back(returned, set())
        clock += tasks.MAX_PAUSE
        set_clock(monkeypatch, clock)
        assert table.take() == taken


def test_a_pair_that_failed_waits_and_others_go_first(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, (first, second) = PairTable(is_match=True), planned_tasks(2)
    table.add(first)
    table.add(second)
    assert table.take() == first
    assert table.fail(first.pair, "node lost", False, {1}) is None
    assert table.take() == second and table.take() is None and table.may_go_on
    set_clock(monkeypatch, clock + tasks.PAUSE_SECONDS)
    assert table.take() == first.without({1})


def test_a_failure_counts_against_a_pair_only_if_other_games_come_back(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, (task,) = PairTable(is_match=True), planned_tasks(1)
    table.add(task)
    lost = []
    for received in (0, 0, 1, 1, 2):
        table.received = received
        assert table.take() == task
        lost.append(table.fail(task.pair, "node lost", False, set()))
        clock += tasks.PAUSE_SECONDS
        set_clock(monkeypatch, clock)
    assert lost == [None] * 4 + [task] and table.given_up == [(task, "node lost")]
    assert table.take() is None and not table.may_go_on


def test_a_pair_during_which_the_executor_broke_twice_is_played_alone(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, (suspect, other) = PairTable(is_match=True), planned_tasks(2)
    table.add(suspect)
    for _ in range(2):
        assert table.take() == suspect
        table.fail(suspect.pair, "gone", True, set())
        clock += tasks.PAUSE_SECONDS
        set_clock(monkeypatch, clock)
    table.add(other)
    assert table.take() == suspect and table.has_suspect
    table.put_back(suspect.pair, {1, 2})
    assert not table.has_suspect and table.take() == other


def test_pairs_of_an_engine_that_is_given_up_are_lost_once(
    clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, planned = PairTable(is_match=True), planned_tasks(3)
    for task in planned:
        table.add(task)
    assert table.exclude({"B": "has another program"}) == [
        "engine B has another program; it plays no more in this run"
    ]
    assert table.take() is None and table.lost() == planned and table.lost() == []
    assert not table.may_go_on and table.lost_engines() == {"B": "has another program"}


ENGINES = 64


def starts_and_delay(ahead: int) -> tuple[int, int]:
    """Return the number of engine starts in a round robin, and a pair's longest delay in turns.

    Two workers take pairs in turn among ``1 + ahead``. Each keeps `MAX_IDLE_ENGINES` engines.
    """
    planned = [
        PairTask((
            replace(game(engine(f"E{first}"), engine(f"E{second}")), number=number, pair=number),
        ))
        for number, (first, second) in enumerate(
            (pair for meetings in circle(ENGINES) for pair in meetings), 1
        )
    ]
    table = PairTable(is_match=False)
    running: tuple[list[str], list[str]] = ([], [])
    started = delay = 0
    for task in planned[: 1 + ahead]:
        table.add(task)
    for turn in range(len(planned)):
        kept = running[turn % 2]
        task = table.take(lambda task: sum(name in kept for name in task.engines), 2 * ahead)
        assert task is not None
        delay = max(delay, turn - planned.index(task))
        for name in task.engines:
            if name in kept:
                kept.remove(name)
            else:
                started += 1
            kept.append(name)
        del kept[:-MAX_IDLE_ENGINES]
        for following in planned[turn + ahead + 1 : turn + ahead + 2]:
            table.add(following)
    return started, delay


def test_workers_take_pairs_whose_engines_they_run() -> None:
    pairs = ENGINES * (ENGINES - 1) // 2
    started, _ = starts_and_delay(ahead=1)
    assert started > 1.8 * pairs
    started, delay = starts_and_delay(ahead=ENGINES)
    assert started < pairs and delay <= 2 * ENGINES
