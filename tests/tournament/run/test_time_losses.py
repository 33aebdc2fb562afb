"""Time forfeits that are not the engine's fault: the report counts them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Overtime
from tests.commands import output
from tests.kit.fakes import fake
from tests.processes import marked, needs_proc, wait_for_file
from tests.tournament.processes import Marked, play
from tests.tournament.specs import engine_words, rows_of

pytestmark = pytest.mark.thorough


MOVE_SECONDS = 2
"""Time of a move: more than a busy machine needs to move or to stop the worker."""


def one_game(tmp_path: Path, script: str) -> list[str]:
    """Return the flags of one game of a fake engine against a sound one."""
    return [
        *engine_words("Tried", command=fake(script)),
        *engine_words("Sound", command=fake()),
        "-each", f"st={MOVE_SECONDS}", "-rounds", "1", "-games", "1", "-srand", "1",
        "-maxmoves", "6", "-journal", f"file={tmp_path / 'j'}",
    ]


def only_row(tmp_path: Path) -> Row:
    (row,) = rows_of(tmp_path / "j")
    return row


def ratings(tmp_path: Path, form: str) -> str:
    """Return the output of ``merels ratings`` for the journal."""
    return output("ratings", str(tmp_path / "j"), "-format", form)


def worker_of(run: Marked) -> int:
    """Return the process id of the run's only worker."""
    for pid in marked(run.mark):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"--multiprocessing-fork" in words:
            return pid
    raise AssertionError("the run has no worker")


def play_with_stopped_worker(tmp_path: Path) -> tuple[str, str]:
    """Play a game whose worker is stopped before an engine answers and continued after its time.

    Return the text on standard output and on standard error.
    """
    flag = tmp_path / "flag"
    script = (
        f"go#2{{not exists('{flag}')}}: do open('{flag}', 'w') & wait {flag}.stopped & reply & "
        f"do open('{flag}.answered', 'w')"
    )
    run = Marked(*one_game(tmp_path, script))
    wait_for_file(flag)
    worker = worker_of(run)
    os.kill(worker, signal.SIGSTOP)
    (tmp_path / "flag.stopped").touch()
    wait_for_file(tmp_path / "flag.answered")
    time.sleep(MOVE_SECONDS + 0.1)  # With the time before the answer, the move is late.
    os.kill(worker, signal.SIGCONT)
    status, out, err = run.wait()
    assert status == 0, err
    return out, err


@needs_proc
def test_a_time_forfeit_caused_by_a_stopped_worker_counts_as_such(tmp_path: Path) -> None:
    out, err = play_with_stopped_worker(tmp_path)
    row = only_row(tmp_path)
    assert (row.result, row.termination) == ("0-1", "time forfeit")
    lost = row.lost_move()
    assert lost is not None and lost.excused
    assert "by the runner or the machine: 1 of 1 game (100.0%)\n" in out
    assert "Against such losses: a lower -concurrency, " in out
    text = ratings(tmp_path, "text")
    assert "by the runner or the machine: 1 of 1 game (100.0%)\n" in text
    page = ratings(tmp_path, "html")
    assert "<h2>Milliseconds a move</h2>" in page
    assert "1 of 1 game (100.0%)</p>" in page
    for shown in (text, page):
        assert "Tried" in shown and "overrun" in shown


def test_an_engine_that_is_late_by_its_own_fault_loses(tmp_path: Path) -> None:
    out, err = play(*one_game(tmp_path, f"late {MOVE_SECONDS + 0.5}"))
    row = only_row(tmp_path)
    assert row.termination == "time forfeit"
    lost = row.lost_move()
    assert lost is not None and not lost.excused
    assert lost.elapsed - lost.overrun == MOVE_SECONDS * 10**9 and lost.margin == 0
    assert f"{{White loses on time ({-(-lost.overrun // 1_000_000)}ms overrun)}}" in out
    assert "by the runner or the machine: 0 of 1 game (0.0%)\n" in out
    assert "Other time losses: 1 of 1 game (100.0%)\n" in out
    data = json.loads(ratings(tmp_path, "json"))
    assert data["time_losses"] == {"games": 1, "caused": 0, "others": 1}
    overrun = data["times"]["Tried"]["overrun"]
    assert (overrun["moves"], overrun["longest"]) == (1, lost.overrun)
    assert data["times"]["Tried"]["used"]["longest"] == lost.elapsed


def test_delays_excuse_a_loss_if_they_reach_the_overrun_beyond_the_margin() -> None:
    assert Overtime(109, 10, 4, 5, None).excused is False
    assert Overtime(109, 10, 4, 5, 1).excused is True
