"""Runs whose output is not read, and interrupts of runs that wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.kit.executor import INVENTED
from tests.tournament.processes import Marked, wait_for
from tests.tournament.specs import match, rows_of

if sys.platform != "win32":
    import fcntl

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="sets the size of a pipe")
SHORT = ("-rounds", "1", *INVENTED)
PLAYED = ("-rounds", "1", "-maxmoves", "1")
"""Flags of a match that workers play, as they make pauses."""


@posix
def test_a_run_goes_on_when_the_reader_of_its_games_exits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    words = (*match(*SHORT), "-rounds", "3", "-log", f"{tmp_path}/pipe", "level=trace")
    run = Marked(*words, "-pgnout", f"{tmp_path}/pipe")
    wait_for(run, "Started game 1 ")
    os.close(reader)
    status, out, err = run.wait()
    assert status == 1 and "Finished game 6 " in out
    assert f"cannot write {tmp_path}/pipe: Broken pipe; going on without it from game" in err
    assert run.survivors() == []


@linux
@pytest.mark.parametrize("words", [(), ("-pgnout", "pipe")])
def test_interrupts_end_a_run_whose_output_is_not_read(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The runner waited for the reader, and no signal but SIGKILL ended it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)
    # The pipe has 100 bytes left, less than the output of two games needs.
    os.write(writer, bytes(fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096) - 100))
    run = Marked(
        *match(*SHORT), "-rounds", "3", "-journal", "j", *words,
        stdout=subprocess.DEVNULL if words else writer, cwd=tmp_path,
    )
    os.close(writer)
    # A game is in the journal before it is written to any other file.
    while b" w 9 9 0 1" not in b"".join(path.read_bytes() for path in tmp_path.glob("j*")):
        assert run.process.poll() is None
        sleep(0.1)
    while run.process.poll() is None:
        run.process.send_signal(signal.SIGINT)
        sleep(1)
    status, _, err = run.wait(60)
    assert status == 130, (status, err)
    assert "finished; continue with: -journal file=j -resume" in err
    assert run.survivors() == []
    os.close(reader)


def test_an_interrupt_ends_a_pause_between_games(tmp_path: Path) -> None:
    pausing = Marked(*match(*PLAYED), "-wait", str(10**9), "-journal", f"{tmp_path}/j")
    wait_for(pausing, "Finished game 1 ")
    pausing.process.send_signal(signal.SIGINT)
    status, _, err = pausing.wait()
    assert status == 130 and "1 game is finished" in err
    assert len(rows_of(tmp_path / "j")) == 1
