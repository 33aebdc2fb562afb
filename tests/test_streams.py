"""All commands with unusual standard streams: a full disk, closed, non-blocking."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from merels.tournament.commands.main import COMMANDS
from tests.commands import MERELS
from tests.processes import limited
from tests.protocol.gui import PATIENCE

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="a POSIX shell opens the streams"),
]

ENGINE = f"cmd={sys.executable} args='-m merels.protocol' nodes=5"
QUICK = {
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
    "bot": "-time 0.01",
}
"""Arguments with which each command prints something quickly."""

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
    words = [*MERELS, *filter(None, [command]), *shlex.split(QUICK[command])]
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *words],
        input="", capture_output=True, text=True, cwd=folder, timeout=PATIENCE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip


def test_every_command_has_quick_arguments() -> None:
    assert set(QUICK) - {"", "--version", "help"} == set(COMMANDS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [command for command in QUICK if command])
def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, command: str, unbuffered: str) -> None:
    done = run(tmp_path, command, ">/dev/full", unbuffered)
    [line] = [line for line in done.stderr.splitlines() if "standard output" in line]
    program, _, message = line.partition(": ")
    assert program in ("merels", f"merels {command}")
    assert message == "standard output cannot be written: No space left on device"
    assert done.returncode == 1 and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", QUICK)
@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(tmp_path: Path, command: str, closed: str) -> None:
    done = run(tmp_path, command, closed)
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_an_error_is_not_printed_on_standard_output_if_error_output_is_closed() -> None:
    words = [*MERELS, "perft", "x"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *words], capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (2, b"")


def test_the_engine_waits_on_non_blocking_streams() -> None:
    """Another process that shares the pipes may have made them non-blocking."""
    to_engine, from_engine = os.pipe(), os.pipe()
    for end in (to_engine[0], from_engine[1]):
        os.set_blocking(end, False)
    started = subprocess.Popen(
        [sys.executable, "-m", "merels.protocol"],
        stdin=to_engine[0], stdout=from_engine[1], stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(to_engine[0])
    os.close(from_engine[1])
    with limited(started) as process:
        with open(to_engine[1], "wb", buffering=0) as to, open(from_engine[0], "rb") as answers:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)  # The engine waits for input.
            to.write(b"uci\n" * 200)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)  # The engine waits until its output is read.
            to.write(b"quit\n")
            assert answers.read().count(b"uciok\n") == 200
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None and process.stderr.read() == b""
