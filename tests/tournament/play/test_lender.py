"""Engine caches that a process lends to its tasks and keeps between them."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from merels.tournament.play.game import play_game
from merels.tournament.play.lender import CacheLender
from merels.tournament.records.games import Adjudication, GameSpec, PairTask
from merels.tournament.run import tasks
from tests.processes import assert_no_engine_is_left, needs_proc
from tests.tournament.specs import MERELS, engine, game

COUNT_STARTS = """import os, sys
with open(sys.argv[1], "a") as file:
    file.write("x")
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def spec(tmp_path: Path) -> GameSpec:
    """Return a short game, whose engines append a letter to the file ``starts`` at their start."""
    (tmp_path / "counted.py").write_text(COUNT_STARTS)
    command = (sys.executable, f"{tmp_path}/counted.py", f"{tmp_path}/starts", *MERELS)
    players = (engine(name, nodes, command) for name, nodes in (("A", 1), ("B", 2)))
    return game(*players, adjudication=Adjudication(max_moves=2))


def starts(folder: Path) -> int:
    return (folder / "starts").stat().st_size


def test_a_process_keeps_its_engines_between_tasks(tmp_path: Path, spec: GameSpec) -> None:
    try:
        counts = []
        for _ in range(4):
            report = tasks.play_pair(PairTask((spec,)))
            assert len(report.games) == 1
            counts.append(starts(tmp_path))
        assert len(set(counts)) == 1, "an engine was started again"
    finally:
        tasks.lender.close()
    assert_no_engine_is_left()


@needs_proc
def test_engines_end_when_no_task_borrows_them_for_a_while(tmp_path: Path, spec: GameSpec) -> None:
    lender = CacheLender(seconds=0.2)
    for expected in (2, 4):
        with lender.lend() as engines:
            play_game(spec, engines)
        assert_no_engine_is_left()
        assert starts(tmp_path) == expected


def test_a_task_keeps_its_games_although_the_system_allows_no_thread(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, the error of a timer that did not start replaced the task's report."""
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    lender = CacheLender()
    with lender.lend() as first:
        pass
    with lender.lend() as second:
        pass
    assert second is first


def test_concurrent_tasks_share_no_engine() -> None:
    lender = CacheLender()
    with lender.lend() as first, lender.lend() as second:
        assert first is not second
    with lender.lend() as engines:
        assert engines in (first, second)
    lender.close()


def test_each_thread_that_runs_tasks_has_its_own_meter() -> None:
    lender, meters = CacheLender(), []

    def work() -> None:
        with lender.lend() as engines:
            meters.append(engines.meter)

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert meters[0] is not meters[1] and meters[0].read(1) is None, "the first meter is still open"
    lender.close()


def test_a_task_that_raises_ends_its_engines(spec: GameSpec) -> None:
    lender = CacheLender()
    with pytest.raises(ZeroDivisionError), lender.lend() as engines:
        play_game(spec, engines)
        raise ZeroDivisionError
    assert_no_engine_is_left()
    with lender.lend() as other:
        assert other is not engines
    lender.close()
