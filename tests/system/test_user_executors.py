"""Tournaments on a user's executor, started and stopped from the command line."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.processes import needs_proc
from tests.tournament.processes import Marked, play, wait_for
from tests.tournament.specs import MERELS, engine_words, match, rows_of
DASK = """
from distributed import Client

def executor():
    return Client("ADDRESS").get_executor()
"""


@pytest.mark.parametrize(("body", "status", "message"), [
    ("    raise OSError('no cluster here')", 1, "no cluster here"),
    ("    pass", 2, "'mine:factory': expected a function that returns an executor; it returned "
     "None"),
])
def test_a_factory_that_makes_no_executor_is_an_error(
    tmp_path: Path, body: str, status: int, message: str
) -> None:
    (tmp_path / "mine.py").write_text(f"def factory():\n{body}\n")
    run = Marked(*match("-executor", "mine:factory"), cwd=tmp_path)
    code, _, err = run.wait()
    assert code == status and message in err and "Traceback" not in err


@pytest.mark.parametrize("name", ["mine:absent", "nowhere:absent", "torn:broken", "raises:broken"])
def test_an_executor_that_cannot_be_imported_leaves_no_journal(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.py").touch()
    (tmp_path / "torn.py").write_text("def broken(:\n")
    (tmp_path / "raises.py").write_text("1 / 0\n")
    run = Marked(*match("-executor", name, "-journal", "file=j"), cwd=tmp_path)
    status, _, err = run.wait()
    assert status == 2 and "cannot import this executor" in err and "Traceback" not in err
    assert not (tmp_path / "j").exists(), "it would block the corrected command line"


@needs_proc
@pytest.mark.parametrize("name", ["ThreadPoolExecutor", "ProcessPoolExecutor"])
def test_a_second_interrupt_ends_a_run_whose_executor_is_busy(name: str) -> None:
    slow = match("-each", "st=60", "-executor", f"concurrent.futures:{name}", nodes=(10**9, 10**9))
    run = Marked(*slow)
    wait_for(run, "Started game 1 ")
    run.process.send_signal(signal.SIGINT)
    assert run.process.stderr is not None
    assert any("finishing the games" in line for line in run.process.stderr)
    run.process.send_signal(signal.SIGINT)
    status, out, err = run.wait()
    assert status == 130 and "Traceback" not in err and run.survivors() == []


@contextlib.contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process; kill it at the end of the context."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@dataclass
class Dask:
    """Command lines of a Dask scheduler and a worker, and flags of a tournament on them."""

    scheduler: tuple[str, ...]
    worker: tuple[str, ...]
    flags: tuple[str, ...]


@pytest.fixture
def dask(tmp_path: Path) -> Dask:
    """Return the command lines of Dask, or skip the test if Dask is not installed."""
    pytest.importorskip("distributed")
    command = shutil.which("dask")
    if command is None:
        pytest.skip("the command dask is not on the path")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    (tmp_path / "mine.py").write_text(DASK.replace("ADDRESS", address))
    return Dask(
        (command, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"),
        (command, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
        ("-executor", "mine:executor", "-executorwait", "25", "-journal", "file=j"),
    )


def test_a_run_on_dask_waits_for_workers_but_not_for_a_killed_scheduler(
    tmp_path: Path, dask: Dask
) -> None:
    with running(*dask.scheduler) as scheduler:
        run = Marked(*match("-rounds", "1000", *dask.flags), cwd=tmp_path)
        assert run.process.stderr is not None
        assert any("no worker answers" in line for line in run.process.stderr)
        with running(*dask.worker) as first:
            wait_for(run, "Finished game 2 ")
            first.kill()
            assert any("nothing comes back" in line for line in run.process.stderr)
        with running(*dask.worker):
            wait_for(run, "Finished game 4 ")
            scheduler.kill()
            status, out, err = run.wait(400)
    assert status == 1 and "given up" in err and len(rows_of(tmp_path / "j")) >= 4


def test_a_run_on_dask_with_a_bad_and_a_killed_worker_equals_a_local_run(
    tmp_path: Path, dask: Dask
) -> None:
    """In a former version, the engine that does not start on one worker lost most games."""
    path = tmp_path / "engine.sh"
    path.write_text(f'#!/bin/sh\n[ "$BAD" ] && exec /no/such/engine\nexec {shlex.join(MERELS)}\n')
    path.chmod(0o755)
    words = [*engine_words("A", "nodes=20", command=[str(path)]), *engine_words("B", "nodes=40"),
             "-rounds", "20", "-srand", "5"]
    play(*words, "-journal", f"file={tmp_path}/local")
    with (
        running(*dask.scheduler), running(*dask.worker, BAD="x"), running(*dask.worker),
        running(*dask.worker) as killed,
    ):
        run = Marked(*words, "-concurrency", "3", *dask.flags, cwd=tmp_path)
        wait_for(run, "Finished game 6 ")
        killed.kill()
        status, out, err = run.wait(400)
    assert status == 0, err
    assert re.search(r" \(process \d+\): engine A does not start \(ends before uciok, exit code "
                     r"12[67]: .*/no/such/engine.*\); this worker gets no games for now", err)
    played, local = (
        [(row.number, row.white, row.result, row.moves) for row in rows_of(tmp_path / name)]
        for name in ("j", "local")
    )
    assert played == local and len(local) == 40
