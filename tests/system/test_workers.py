"""Runs whose workers or engines are killed, do not start, or are watched."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.records.games import Adjudication, PairTask, TimeControl
from merels.tournament.run import tasks
from merels.tournament.run.tasks import PairReport, Place, play_pair
from merels.tournament.views.pgn import GameWriter, PgnView
from merels.tournament.views.pgn_file import PgnFile
from tests.tournament.run.runs import Run, Stopping, as_planned, script
from tests.tournament.specs import engine, settings


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before pairs."""
    monkeypatch.setattr(tasks, "PAUSE_SECONDS", 0.05)


def test_a_watched_game_is_reported_move_by_move() -> None:
    slow = TimeControl(per_move=40_000_000, margin=10**10)
    engines = tuple(replace(engine(name), limit=slow) for name in "AB")
    run = Run(replace(
        settings(2, rounds=1, games=1), engines=engines, adjudication=Adjudication(max_moves=20)
    ))
    run.pool = partial(run.pool, watched=True)
    assert run.play() == "finished"
    (row,) = run.rows
    moves = [move for played in run.record.progress for move in played.moves]
    assert moves and moves == row.played()[: len(moves)]
    assert len(run.record.progress) > 1
    reported = 0
    for played in run.record.progress:
        assert played.reported == reported
        reported += len(played.moves)


def play_or_die(task: PairTask, number: int) -> PairReport:
    """Play a pair, but end the process instead if it is pair 1."""
    if task.games[0].pair == 1:
        os._exit(1)
    return play_pair(task, number)


class BreaksAtPairOne(ProcessPoolExecutor):
    """A process pool, which breaks as a whole when one of its processes dies."""

    def __init__(self) -> None:
        super().__init__(2, mp_context=get_context("spawn"))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(play_or_die if fn is play_pair else fn, *args, **kwargs)


def test_a_pair_that_breaks_a_process_pool_loses_no_other_pair() -> None:
    run = Run(settings(2, rounds=2))
    assert run.play(BreaksAtPairOne) == "timed_out"
    assert [row.number for row in run.rows] == [3, 4] and run.board.uncounted == {1, 2}


@pytest.mark.skipif(sys.platform == "win32", reason="limits a process's descriptors")
def test_a_machine_that_starts_no_worker_stops_the_run_and_loses_no_game(tmp_path: Path) -> None:
    import resource

    run = Run(settings(rounds=30), tmp_path / "j", workers=4)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The limit leaves one free descriptor, too few for the pipes of a worker.
    with open(os.devnull) as lowest_free:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free.fileno() + 1, hard))
    try:
        assert run.play() == "timed_out"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert run.rows == []
    assert run.record.notices[-1].startswith(
        "the workers failed 5 times in a row: cannot start a worker process: "
    )


def test_a_killed_worker_has_its_pair_played_again(tmp_path: Path) -> None:
    command = script(tmp_path, """
if not os.path.exists(flag):
    open(flag, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
""")
    chosen = settings(rounds=3, engines=(engine("A", command=command), engine("B")))
    run = Run(chosen)
    assert run.play() == "finished"
    assert as_planned(run.rows, chosen)
    assert any("worker" in notice for notice in run.record.notices)


def test_pairs_that_always_kill_their_worker_are_given_up_and_others_played(tmp_path: Path) -> None:
    command = script(tmp_path, "os.kill(os.getppid(), signal.SIGKILL)")
    engines = (engine("A"), engine("B"), engine("C", command=command))
    run = Run(settings(rounds=1, engines=engines))
    assert run.play() in ("stuck", "timed_out")
    assert [(row.white, row.black) for row in run.rows] == [("A", "B"), ("B", "A")]
    assert "*" not in {row.result for row in run.rows}


def test_the_pgn_has_each_game_once_if_games_were_played_later(tmp_path: Path) -> None:
    command = script(tmp_path, """
import time
try:
    os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    time.sleep(60)
except FileExistsError:
    pass
""")
    late = replace(engine("B", command=command), start_timeout=60.0)
    chosen = settings(rounds=4, engines=(engine("A"), late))
    path, writer = tmp_path / "games.pgn", GameWriter(chosen, "x")
    # The first run is stopped after 6 games; the second run ends with all 8 games.
    for after, end, count in ((6, "killed", 6), (9, "finished", 8)):
        run = Run(chosen, tmp_path / "j")
        pgn = PgnView(PgnFile(str(path), "x"), writer)
        run.board.add_view(pgn)
        run.board.add_view(Stopping(run.runner, after))
        assert run.play() == end
        pgn.close()
        run.journal.close()
        assert len(list(parse_records(path.read_text()))) == count
    ids = [record.tags["GameId"] for record in parse_records(path.read_text())]
    assert sorted(ids) == [f"x-{number}" for number in range(1, 9)]


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_pool_plays_the_planned_games(method: str) -> None:
    chosen = settings(2, rounds=2, adjudication=Adjudication(max_moves=2))
    run = Run(chosen)
    make = partial(ProcessPoolExecutor, 2, mp_context=get_context(method))
    assert run.play(make) == "finished" and as_planned(run.rows, chosen)
