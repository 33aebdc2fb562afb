"""Commands and the Python client print the same message about an engine that cannot run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError
from tests.commands import run_process
from tests.protocol.board.server import Server

LAST_ERROR = "exit code 1: ModuleNotFoundError: No module named 'no_such_module'"
ONE_STEP = ("-fast", "-only", "greeting")
"""Flags of ``merels check`` for one step."""


@pytest.fixture
def failing_command(tmp_path: Path) -> str:
    """The command of an engine that exits because it lacks a module."""
    script = tmp_path / "mini.py"
    script.write_text("import no_such_module\n")
    return f"{sys.executable} {script}"


def test_each_command_quotes_the_last_error_output(failing_command: str) -> None:
    engine = ("-engine", f"cmd={failing_command}", "name=Mini")
    assert LAST_ERROR in run_process("check", *engine, *ONE_STEP).stderr
    with pytest.raises(EngineError, match=LAST_ERROR):
        Engine.popen(failing_command)
    with Server(*engine) as server:
        session = server.begin({"engine": 1})
        with server.stream(session) as stream:
            state = stream.until("state", lambda state: state["error"])
    assert LAST_ERROR in state["error"]


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("./mini", ""),
        ("./mini -x", ", and no file './mini -x'; give a program's arguments as args="),
    ],
    ids=["one word", "two words"],
)
def test_each_command_names_the_program_that_is_missing(command: str, hint: str) -> None:
    message = f"no such engine: './mini' is not in {Path.cwd()}{hint}"
    done = run_process("check", *ONE_STEP, "-engine", f"cmd={command}")
    assert done.returncode == 2 and done.stderr.endswith(f"{message}\n"), done.stderr
    with pytest.raises(EngineError) as error:
        Engine.popen(command)
    assert str(error.value) == message
