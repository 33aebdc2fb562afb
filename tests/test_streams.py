"""All commands with unusual standard streams: a full disk, closed, non-blocking."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from select import select

import pytest

from merels.tournament.commands.main import COMMANDS
from tests.commands import MERELS
from tests.kit.waiting import wait
from tests.processes import limited
from tests.protocol.gui import PATIENCE

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="opens streams with a POSIX shell"),
]

ENGINE = f"cmd={sys.executable} args='-m merels.protocol' nodes=5"
ARGUMENTS = {
    "": "",
    "--version": "",
    "help": "",
    "tournament": f"-engine {ENGINE} name=A -engine {ENGINE} name=B -rounds 1 -quiet",
    "tune": "--help",
    "ratings": "games.pgn",
    "accuracy": "--help",
    "stats": "-wld 1,2,3",
    "league": "ratings create -each nodes=1",
    "merge": "--help",
    "convert": "games.pgn -to wmd",
    "book": "-positions 1 -nodes 1",
    "check": "-list",
    "board": "--help",
    "play": "-time 0.01",
    "analyse": "-depth 1",
    "review": "games.pgn -nodes 1 -json",
    "eval": "",
    "d": "",
    "perft": "1",
    "bench": "--help",
    "suite": "suite.json -nodes 1",
    "puzzles": "--help",
    "tables": "build -men 6 -dir tables",
}
"""Command -> arguments with which it soon prints something; "" is ``merels`` without a command."""

GAME = """\
[White "A"]
[Black "B"]
[Variant "mill"]
[Result "1-0"]

1. d6 f4 1-0
"""
PROBLEM = '[{"position": "********/********/******** w 9 9 0 1", "value": 0, "best": ["a1"]}]'


def run(
    folder: Path, command: str, redirection: str, unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with a shell's redirection of its streams."""
    (folder / "games.pgn").write_text(GAME)
    (folder / "suite.json").write_text(PROBLEM)
    words = [*MERELS, *filter(None, [command]), *shlex.split(ARGUMENTS[command])]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *words],
        input="", capture_output=True, text=True, cwd=folder, timeout=PATIENCE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip


def test_every_command_has_arguments_here() -> None:
    assert set(ARGUMENTS) - {"", "--version", "help"} == set(COMMANDS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(("command", "unbuffered"), [
    *((command, "") for command in ARGUMENTS if command), ("help", "1"), ("tournament", "1"),
])
def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, command: str, unbuffered: str) -> None:
    done = run(tmp_path, command, ">/dev/full", unbuffered)
    [line] = [line for line in done.stderr.splitlines() if "standard output" in line]
    program, _, message = line.partition(": ")
    assert program in ("merels", f"merels {command}")
    assert message == "cannot write to standard output: No space left on device"
    assert done.returncode == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize(("command", "redirection"), [
    *((command, "<&- >&- 2>&-") for command in ARGUMENTS),
    *((command, closed) for command in ("", "tournament") for closed in ("<&-", ">&- 2>&-")),
])
def test_closed_streams_are_no_error(tmp_path: Path, command: str, redirection: str) -> None:
    done = run(tmp_path, command, redirection)
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_an_error_is_not_printed_on_standard_output_if_error_output_is_closed() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *MERELS, "perft", "x"], capture_output=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="sets the size of a pipe")
def test_one_interrupt_ends_a_command_whose_output_is_not_read() -> None:
    """After the interrupt the command waited for the reader again, to write the rest."""
    import fcntl

    script = (
        "import signal, sys; from merels.tournament.commands.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', file=sys.stderr, flush=True)\n"
        "sys.exit(main(['tournament', '-help']))"
    )
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=writer, stderr=subprocess.PIPE
    ) as command, limited(command):
        os.close(writer)
        assert command.stderr is not None and command.stderr.readline() == b"ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(2)
        command.send_signal(signal.SIGINT)
        assert command.wait(PATIENCE) == 130 and command.stderr.read() == b""
    os.close(reader)


def test_the_engine_waits_on_non_blocking_streams() -> None:
    """Another process that shares the pipes may have made them non-blocking."""
    input_end, to_engine = os.pipe()
    from_engine, output_end = os.pipe()
    for end in (input_end, output_end):
        os.set_blocking(end, False)
    engine = subprocess.Popen(
        [sys.executable, "-m", "merels.protocol"],
        stdin=input_end, stdout=output_end, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(input_end)
    with limited(engine) as process:
        with open(to_engine, "wb", buffering=0) as commands, open(from_engine, "rb") as answers:
            commands.write(b"uci\n")
            assert b"uciok\n" in iter(answers.readline, b"")
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)  # The engine waits for input.
            commands.write(b"uci\n" * 200)
            wait(lambda: not select([], [output_end], [], 0)[1], 60, "a full pipe of answers")
            os.close(output_end)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)  # The engine waits until its output is read.
            commands.write(b"quit\n")
            assert answers.read().count(b"uciok\n") == 200
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None and process.stderr.read() == b""
