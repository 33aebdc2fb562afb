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

COUNTED = """import os, sys
with open(sys.argv[1], "a") as file:
    file.write("x")
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def spec(tmp_path: Path) -> GameSpec:
    """Return a short game.

    Its engines append a letter to the file ``starts`` when they start.
    """
    (tmp_path / "counted.py").write_text(COUNTED)
    command = (sys.executable, f"{tmp_path}/counted.py", f"{tmp_path}/starts", *MERELS)
    players = (engine(name, nodes, command) for name, nodes in (("A", 1), ("B", 2)))
    return game(*players, adjudication=Adjudication(max_moves=2))


def starts(folder: Path) -> int:
    return (folder / "starts").stat().st_size


def test_a_process_keeps_its_engines_between_tasks(
    tmp_path: Path, spec: GameSpec
) -> None:
    try:
        tasks.play_pair(PairTask((spec,)))
        first = starts(tmp_path)
        for _ in range(3):
            report = tasks.play_pair(PairTask((spec,)))
            assert len(report.games) == 1
        assert starts(tmp_path) == first
    finally:
        tasks.lender.close()
    assert_no_engine_is_left()


@needs_proc
def test_engines_end_when_no_task_comes_for_a_while(tmp_path: Path, spec: GameSpec) -> None:
    lender = CacheLender(seconds=0.2)
    for expected in (2, 4):
        with lender.lend() as engines:
            play_game(spec, engines)
        assert_no_engine_is_left()
        assert starts(tmp_path) == expected


def test_concurrent_tasks_share_no_engine() -> None:
    lender = CacheLender()
    with lender.lend() as first, lender.lend() as second:
        assert first is not second
    with lender.lend() as engines:
        assert engines in (first, second)
    lender.close()


def test_an_engine_is_measured_by_the_thread_of_its_task() -> None:
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
    with lender.lend() as fresh:
        assert fresh is not engines
    lender.close()
