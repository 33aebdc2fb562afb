"""Output files of a run: full disks, kills, continued runs, devices and links."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.commands import refusal
from tests.kit.executor import INVENTED
from tests.tournament.processes import Marked, play, wait_for
from tests.tournament.specs import match, rows_of

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
SHORT = ("-rounds", "1", *INVENTED)
PLAYED = ("-rounds", "1", "-maxmoves", "1")
"""Flags of a match that workers play, as they make pauses."""


def test_a_resumed_run_appends_to_its_files_in_spite_of_append_false(tmp_path: Path) -> None:
    """``append=false`` replaces a file only at the start of a new run."""
    paths = [tmp_path / name for name in ("log", "pgn")]
    flags = ["-journal", f"{tmp_path}/j", "-log", str(paths[0]), "append=false", "level=info"]
    flags += ["-pgnout", str(paths[1]), "append=false"]
    for path in paths:
        path.write_text("of another run\n")
    play(*match(*SHORT), *flags)
    play(*match(*SHORT), *flags, "-rounds", "2", "-resume")
    log, pgn = (path.read_text() for path in paths)
    assert "of another run" not in log + pgn and pgn.count("[GameId ") == 4
    assert all(f"game {number}: " in log for number in range(1, 5))


def test_a_refused_run_empties_no_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("of another run\n")
    error = refusal(
        "tournament", *match(*SHORT), "-log", str(path), "append=false",
        "-pgnout", f"{tmp_path}/none/pgn", "append=false",
    )
    assert "'pgn': cannot write this file: there is no such folder" in error
    assert path.read_text() == "of another run\n"


@posix
@pytest.mark.parametrize("flag", ["-pgnout", "-log"])
def test_a_pipe_that_no_program_reads_is_refused(tmp_path: Path, flag: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    words = (*match(*SHORT), "-journal", f"{tmp_path}/j", flag, f"{tmp_path}/pipe")
    error = refusal("tournament", *words)
    assert "cannot write this file: no program reads this pipe; start its reader first" in error
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


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
    import fcntl

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
    sleep(0.5)
    assert run.process.poll() is None
    run.process.send_signal(signal.SIGINT)
    sleep(2)
    run.process.send_signal(signal.SIGINT)
    status, _, err = run.wait(60)
    assert status == 130 and "finished; continue with: -journal file=j -resume" in err
    assert run.survivors() == []
    os.close(reader)


def test_an_interrupt_ends_a_pause_between_games(tmp_path: Path) -> None:
    pausing = Marked(*match(*PLAYED), "-wait", str(10**9), "-journal", f"{tmp_path}/j")
    wait_for(pausing, "Finished game 1 ")
    pausing.process.send_signal(signal.SIGINT)
    status, _, err = pausing.wait()
    assert status == 130 and "1 game is finished" in err
    assert len(rows_of(tmp_path / "j")) == 1
