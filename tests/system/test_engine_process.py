"""The end of an engine's process: quit, end of input, signals, and closed streams."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.kit.waiting import wait
from tests.processes import limited
from tests.protocol.conftest import process as process
from tests.protocol.gui import ENGINE, PATIENCE, Gui


@pytest.mark.parametrize("work, end", [
    ("", "end of input"), ("go infinite", "quit"), ("go ponder wtime 9", "end of input"),
    ("go perft 12", "quit"), ("bench", "end of input"),
])
def test_quit_and_the_end_of_input_end_the_process(process: Gui, work: str, end: str) -> None:
    process.ask(work)
    if end == "quit":
        process.send("quit")
    else:
        process.close_input()
    assert process.exit_code() == 0
    assert process.errors() == ""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent to a console on Windows")
@pytest.mark.parametrize("work", ["", "go infinite", "go perft 12"])
def test_sigint_ends_the_process_without_a_traceback(process: Gui, work: str) -> None:
    process.ask(work)
    process.interrupt()
    assert process.exit_code() in (0, -signal.SIGINT)
    assert process.errors() == ""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent to a console on Windows")
def test_sigint_after_quit_is_ignored(process: Gui, tmp_path: Path) -> None:
    """After ``quit``, perft has some time to finish; the signal arrives within this time."""
    log = tmp_path / "log"
    process.ask(f"setoption name Debug Log File value {log}", "go perft 12")
    process.send("quit")
    wait(lambda: log.read_text().endswith("> quit\n"), PATIENCE, "quit in the log")
    time.sleep(0.1)  # The log has the line just before it is obeyed.
    process.interrupt()
    assert process.exit_code() == 0
    assert process.errors() == ""


def answers(text: str) -> list[str]:
    """Return the output lines of a process that reads ``text`` and then the end of input."""
    done = subprocess.run(ENGINE, input=text, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


MATE_IN_ONE = "position fen @*O**O@*/**@**@*@/O*****@* b 0 0 8 32\n"


@pytest.mark.parametrize(
    ("go", "depth"),
    [
        ("go depth 9", 9), ("go nodes 50000", 6), ("go ponder depth 7\nponderhit", 7),
        # A search that the end of input stopped would end at depth 1, even on a fast machine.
        ("go movetime 2000", 2), ("go wtime 80000 btime 80000", 2),
        (f"{MATE_IN_ONE}go mate 1", 1),
    ],
)
def test_a_search_with_a_limit_finishes_after_the_end_of_input(go: str, depth: int) -> None:
    lines = answers(f"{go}\n")
    assert max(int(line.split()[2]) for line in lines if line.startswith("info depth")) >= depth
    assert [line.split()[0] for line in lines].count("bestmove") == 1
    assert lines[-1].startswith("bestmove ")


@pytest.mark.skipif(os.name != "posix", reason="needs poll")
def test_a_search_after_the_end_of_input_ends_when_its_output_is_closed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    started = subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with limited(started, 300) as process:
        assert process.stdin and process.stdout
        process.stdin.write(f"setoption name Debug Log File value {log}\n".encode())
        process.stdin.write(b"setoption name MultiPV value 24\ngo depth 99\n")
        process.stdin.close()
        end_of_depth_15 = re.compile(rb"info depth 15 seldepth \d+ multipv 24 ")
        while not end_of_depth_15.match(line := process.stdout.readline()):
            assert line, "the engine ended before depth 15"
        process.stdout.close()
        assert process.wait(PATIENCE) == 0
    # The process ended before the next iteration, whose lines it could not have written.
    assert "info depth 16 " not in log.read_text()


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_a_person_at_a_terminal_gets_a_welcome_line_and_hints() -> None:
    import pty
    import tty

    master, slave = pty.openpty()
    tty.setraw(slave)
    started = subprocess.Popen(ENGINE, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    with limited(started) as process, open(master, "r+b", buffering=0) as terminal:
        welcome = terminal.read(1000)
        assert welcome.startswith(b"merels ") and welcome.count(b"\n") == 1
        assert b"help" in welcome and b"merels play" in welcome
        for typed, hint in ((b"?", b"help"), (b"exit", b"quit"), (b"start", b"merels play")):
            terminal.write(typed + b"\n")
            assert hint in terminal.read(1000).partition(b"is ignored; ")[2]
        terminal.write(b"quit\n")
        assert process.wait(PATIENCE) == 0


def test_the_engine_rejects_command_line_arguments() -> None:
    command = [*ENGINE, "--frobnicate"]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1 and "no arguments" in done.stderr


@pytest.mark.parametrize("trigger", [b"isready\n", b"stop\n"])
def test_a_process_whose_output_is_closed_ends(trigger: bytes) -> None:
    """The process's input stays open, so that only the broken pipe can end the process."""
    started = subprocess.Popen(
        ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    with limited(started) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b"go infinite\n")
        assert process.stdout.read(4) == b"info"
        process.stdout.close()
        # An info line may meet the closed pipe before the trigger is written.
        with suppress(BrokenPipeError):
            process.stdin.write(trigger)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
