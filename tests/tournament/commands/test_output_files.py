"""Output files of a run: full disks, kills, continued runs, devices and links."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.commands import refusal
from tests.kit.executor import INVENTED
from tests.tournament.processes import Marked, limited_in_size, play, wait_for
from tests.tournament.specs import match, rows_of

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
SHORT = ("-rounds", "1", *INVENTED)
PLAYED = ("-rounds", "1", "-maxmoves", "1")
"""Flags of a match that workers play, as they make pauses."""
STARTED = "game 2: B vs A started"


def on_a_full_disk(limit: int, *words: str) -> str:
    """Return the errors of a run whose files are limited to ``limit`` bytes; it must fail."""
    done = limited_in_size(limit, "tournament", *words)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    return done.stderr


def unpacked(path: Path) -> str:
    """Return the text of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode()


def compressing(path: Path) -> tuple[str, ...]:
    """Return the flags of a short match whose log is compressed at the end."""
    return (*match(*SHORT), "-log", str(path), "level=info", "compress=true")


@linux
def test_a_full_disk_while_a_log_is_compressed_loses_nothing(tmp_path: Path) -> None:
    path, packed = tmp_path / "log", tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(random.Random(1).randbytes(15000).hex().encode()))
    earlier, size = unpacked(packed), packed.stat().st_size
    err = on_a_full_disk(size + 20, *compressing(path))
    assert f"cannot write {packed}: File too large; the log is in {path}" in err
    assert unpacked(packed) == earlier and path.read_text().count(STARTED) == 1
    assert sorted(tmp_path.iterdir()) == [path, packed]
    play(*compressing(path))
    assert unpacked(packed).startswith(earlier) and unpacked(packed).count(STARTED) == 2
    assert list(tmp_path.iterdir()) == [packed]


def test_a_kill_while_a_log_is_compressed_loses_nothing(tmp_path: Path) -> None:
    path, packed = tmp_path / "log", tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(b"first\n"))
    earlier = random.Random(1).randbytes(1 << 24).hex() + "\n"
    path.write_text(earlier)
    before = packed.stat()
    killed = Marked(*compressing(path))
    while packed.stat() == before and len(list(tmp_path.iterdir())) == 2:
        assert killed.process.poll() is None
        sleep(0.001)
    killed.process.kill()
    killed.wait()
    assert path.read_text().startswith(earlier), "killed too late"
    play(*compressing(path))
    text = unpacked(packed)
    assert text.startswith("first\n" + earlier) and text.count(STARTED) == 2
    assert not path.exists()


def test_no_log_is_appended_to_a_damaged_file(tmp_path: Path) -> None:
    path, packed = tmp_path / "log", tmp_path / "log.gz"
    for damaged in (gzip.compress(b"first\n" * 99)[:-9], b"no gzip"):
        packed.write_bytes(damaged)
        status, _, err = Marked(*compressing(path)).wait()
        assert status == 1
        assert f"{packed} is damaged or not a gzip file; the log is in {path}" in err
        assert packed.read_bytes() == damaged
    assert path.read_text().count(STARTED) == 2


def test_a_resumed_run_appends_to_its_files_in_spite_of_append_false(tmp_path: Path) -> None:
    """``append=false`` replaces a file only at the start of a new run."""
    paths = [tmp_path / name for name in ("epd", "log", "pgn")]
    flags = ["-journal", f"{tmp_path}/j", "-log", str(paths[1]), "append=false", "level=info"]
    flags += ["-epdout", str(paths[0]), "append=false", "-pgnout", str(paths[2]), "append=false"]
    for path in paths:
        path.write_text("of another run\n")
    play(*match(*SHORT), *flags)
    play(*match(*SHORT), *flags, "-rounds", "2", "-resume")
    epd, log, pgn = (path.read_text() for path in paths)
    assert "of another run" not in epd + log + pgn
    assert epd.count("\n") == pgn.count("[GameId ") == 4
    assert all(f"game {number}: " in log for number in range(1, 5))
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(b"of this run\n"))
    play(*match(*SHORT), *flags, "-rounds", "3", "-resume", "-log", "compress=true")
    assert unpacked(packed).startswith("of this run\n" + log)


def test_a_resumed_run_writes_the_positions_that_a_killed_run_left_out(tmp_path: Path) -> None:
    path, words = tmp_path / "epd", (*match(*SHORT), "-journal", f"{tmp_path}/j", "-resume")
    path.write_text("of another run\n")
    play(*words, "-rounds", "2", "-epdout", str(path))
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 5
    for count in range(1, 5):
        path.write_text("".join(lines[:count]))
        play(*words, "-rounds", "2", "-epdout", str(path))
        assert path.read_text() == "".join(lines)


@linux
def test_a_full_disk_leaves_whole_positions(tmp_path: Path) -> None:
    path = tmp_path / "epd"
    play(*match(*SHORT), "-epdout", str(path))
    first, second = path.read_text().splitlines(keepends=True)
    path.unlink()
    err = on_a_full_disk(len(first) + 9, *match(*SHORT), "-epdout", str(path))
    assert f"cannot write {path}: File too large; going on without it from game 2 on" in err
    assert path.read_text() == first
    path.write_text("startpos")  # without a line break at the end
    play(*match(*SHORT), "-epdout", str(path))
    assert path.read_text() == f"startpos\n{first}{second}"


def test_a_log_that_another_run_writes_is_compressed_by_the_last(tmp_path: Path) -> None:
    path, packed = tmp_path / "log", tmp_path / "log.gz"
    other = Marked(*compressing(path), "-executor", "none", "-maxmoves", "1", "-wait", str(10**9))
    wait_for(other, "Finished game 1 ")
    play(*compressing(path))
    assert path.read_text().count("game 1: A vs B started") == 2 and not packed.exists()
    other.process.send_signal(signal.SIGINT)
    assert other.wait()[0] == 130
    assert unpacked(packed).count("game 1: A vs B started") == 2 and not path.exists()


@posix
@pytest.mark.parametrize("target", ["/dev/full", "/dev/stderr", None])
def test_a_device_is_not_compressed(tmp_path: Path, target: str | None) -> None:
    path = tmp_path / "log"
    for device in (path, tmp_path / "log.gz"):
        if target is None:
            os.mkfifo(device)
        else:
            device.symlink_to(target)
        error = refusal("tournament", *match(*SHORT), "-log", str(path), "compress=true")
        assert f"'{device.name}': -log compress=true needs a regular file" in error
        assert list(tmp_path.iterdir()) == [device]
        device.unlink()


@posix
def test_a_compressed_log_keeps_links(tmp_path: Path) -> None:
    path, packed = tmp_path / "log", tmp_path / "log.gz"
    path.symlink_to("target")
    packed.symlink_to("target.gz")
    for count in (1, 2):
        play(*compressing(path))
        assert path.is_symlink() and packed.is_symlink() and not path.exists()
        assert unpacked(tmp_path / "target.gz").count(STARTED) == count
    play(*compressing(path), "append=false")
    assert packed.is_symlink() and unpacked(packed).count(STARTED) == 1


@pytest.mark.parametrize("flag", ["-journal", "-pgnout", "-epdout"])
def test_a_compressed_log_cannot_be_the_file_of_another_flag(tmp_path: Path, flag: str) -> None:
    words = match("-log", f"{tmp_path}/x", "compress=true", flag, f"{tmp_path}/x.gz")
    assert f"{flag} and -log compress=true cannot have the same file" in refusal(
        "tournament", *words
    )


def test_a_refused_run_empties_no_file(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("log", "log.gz", "pgn")]
    for path in paths:
        path.write_bytes(gzip.compress(b"of another run\n"))
    error = refusal(
        "tournament", *match(*SHORT), "-log", str(paths[0]), "append=false", "compress=true",
        "-pgnout", str(paths[2]), "append=false", "-epdout", f"{tmp_path}/none/epd",
    )
    assert "'epd': cannot write this file: there is no such folder" in error
    assert {unpacked(path) for path in paths} == {"of another run\n"}


@posix
@pytest.mark.parametrize("flag", ["-pgnout", "-epdout", "-log"])
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
