"""How engines are started: what they inherit, and what they may use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.search.limits import Limit
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import read_engine
from merels.protocol.process.errors import EngineError, EngineTerminated
from merels.protocol.process.limits import MIB, ResourceLimits, read_limits
from tests.processes import HOSTILE, needs_proc, needs_resource

PATIENCE = 120.0
"""Seconds: only a hang takes so long."""


def start(mode: str, argument: str = "", limits: ResourceLimits | None = None) -> Engine:
    """A hostile engine."""
    return Engine.popen([*HOSTILE, mode, argument], timeout=PATIENCE, limits=limits)


def report(path: Path, limits: ResourceLimits | None = None) -> dict[str, Any]:
    """What an engine says of the process that it is."""
    with start("report", str(path), limits):
        return dict(json.loads(path.read_text()))


@needs_proc
def test_an_engine_has_its_three_descriptors_alone(tmp_path: Path) -> None:
    """Neither another engine's pipes nor any file that this process has open."""
    with open(tmp_path / "journal", "w") as file, start("report", str(tmp_path / "other")):
        os.set_inheritable(file.fileno(), True)
        about = report(tmp_path / "about")
        other = json.loads((tmp_path / "other").read_text())
    mine, theirs = about["descriptors"], other["descriptors"]
    assert set(mine) == {"0", "1", "2"}
    assert not set(mine.values()) & set(theirs.values())
    assert about["leads"], "a session and a process group of its own"


@needs_proc
def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    words = [f"; touch {tmp_path}/a", f"$(touch {tmp_path}/b)", "`x`", "| cat", "> f", "$HOME", "*"]
    command = [*HOSTILE, "report", str(tmp_path / "about"), *words]
    with Engine.popen(command, timeout=PATIENCE):
        about = json.loads((tmp_path / "about").read_text())
    assert about["words"][3:] == words
    assert [path.name for path in tmp_path.iterdir()] == ["about"]


@needs_resource
@needs_proc
def test_limits_hold_from_the_start(tmp_path: Path) -> None:
    about = report(tmp_path / "about", ResourceLimits(cpu=7, memory=2000, core=0))
    limits = about["limits"]
    assert limits["CPU"] == [7, 8] and limits["AS"] == [2000 * MIB] * 2
    assert limits["CORE"] == [0, 0]
    assert about["leads"] and set(about["descriptors"]) == {"0", "1", "2"}


@needs_resource
@needs_proc
def test_one_limit_leaves_the_others_alone(tmp_path: Path) -> None:
    before = report(tmp_path / "before")["limits"]
    after = report(tmp_path / "after", ResourceLimits(core=0))["limits"]
    assert after == before | {"CORE": [0, 0]}


@needs_resource
def test_too_much_memory_ends_an_engine() -> None:
    with start("memory", "2000", ResourceLimits(memory=1000)) as engine:
        with pytest.raises(EngineTerminated, match="limited to memory=1000: MemoryError$"):
            engine.play(Position(), Limit(time=PATIENCE))


@needs_resource
def test_memory_within_the_limit_is_no_fault() -> None:
    with start("memory", "20", ResourceLimits(memory=1000)) as engine:
        assert str(engine.play(Position(), Limit(time=PATIENCE)).move) == "d6"


@needs_resource
def test_too_much_processor_time_ends_an_engine() -> None:
    with start("cpu", "", ResourceLimits(cpu=1)) as engine:
        with pytest.raises(EngineTerminated, match=r"killed by SIGXCPU, over its limit of cpu=1$"):
            engine.play(Position(), Limit(time=PATIENCE))


@needs_resource
def test_a_program_that_cannot_run_is_named(tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_text("no program")
    limits = ResourceLimits(core=0)
    with pytest.raises(EngineError, match="cannot start .*Permission denied"):
        Engine.popen([str(program)], limits=limits)
    program.chmod(0o755)
    with pytest.raises(EngineTerminated, match="exit code 126"):
        Engine.popen([str(program)], timeout=PATIENCE, limits=limits)


@needs_resource
def test_the_words_for_limits() -> None:
    assert read_limits({"cmd": "x"}) is None
    limits = ResourceLimits(cpu=3, memory=64, core=0)
    words = ["cmd=x", "cpu=3", "memory=64", "core=0"]
    assert read_engine(words, ("uci",)).resources == limits
    assert str(limits) == "cpu=3 memory=64 core=0"
    for word in ("cpu=0", "cpu=1.5", "memory=-1", "memory=x", "core=99999999999", "cpu="):
        key, _, value = word.partition("=")
        with pytest.raises(InputError, match=f"for {key}= of A"):
            read_limits({key: value}, "of A")


def test_a_system_without_limits_says_so() -> None:
    """On such a system there is no module that sets them."""
    program = (
        "import sys\n"
        "sys.modules['resource'] = None\n"
        "from merels.tournament.commands.main import main\n"
        "sys.exit(main(['check', '-engine', 'cmd=x', 'memory=64']))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "this system cannot limit an engine's resources; leave out memory=64" in done.stderr
