"""An engine that cannot run is told of in its own words, and its command read alike, everywhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from merels.protocol.client.engine import Engine
from merels.protocol.process.errors import EngineError
from tests.commands import shell
from tests.protocol.board.server import Server

SAID = "exit code 1: ModuleNotFoundError: No module named 'no_such_module'"
ONE_STEP = ("-fast", "-only", "greeting")


@pytest.fixture
def failing(tmp_path: Path) -> str:
    """The command of an engine that lacks a module."""
    script = tmp_path / "mini.py"
    script.write_text("import no_such_module\n")
    return f"{sys.executable} {script}"


def test_each_command_gives_its_last_words(failing: str) -> None:
    engine = ("-engine", f"cmd={failing}", "name=Mini")
    assert SAID in shell("check", *engine, *ONE_STEP).stdout
    assert SAID in shell("bot", *engine).stderr
    with pytest.raises(EngineError, match=SAID):
        Engine.popen(failing)
    with Server(*engine) as server:
        session = server.begin({"engine": 1})
        with server.stream(session) as stream:
            state = stream.until("state", lambda state: state["error"])
    assert SAID in state["error"]


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("./mini", ""),
        ("./mini -x", ", and no file './mini -x'; give a program's arguments as args="),
    ],
    ids=["one word", "two words"],
)
def test_each_command_says_what_it_looked_for(command: str, hint: str) -> None:
    said = f"no such engine: './mini' is not in {Path.cwd()}{hint}\n"
    for words in (["check", *ONE_STEP], ["bot"]):
        done = shell(*words, "-engine", f"cmd={command}")
        assert done.returncode == 2 and done.stderr.endswith(said), done.stderr
    with pytest.raises(EngineError) as error:
        Engine.popen(command)
    assert str(error.value) == said.strip()
