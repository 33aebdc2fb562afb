"""Engine processes: inherited descriptors, commands and resource limits."""

from __future__ import annotations

import json
import os
import signal
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
from tests.kit.fakes import fake
from tests.processes import needs_proc, needs_resource

PATIENCE = 120.0
"""Timeout in seconds that only an engine that hangs reaches."""


def start(mode: str, argument: str = "", limits: ResourceLimits | None = None) -> Engine:
    """Start a hostile engine in ``mode``."""
    return Engine.popen(fake(mode, argument), timeout=PATIENCE, limits=limits)


def report(path: Path, limits: ResourceLimits | None = None) -> dict[str, Any]:
    """Return an engine's report on its process: descriptors, limits and command line."""
    with start(f"start: report {path}", limits=limits):
        return dict(json.loads(path.read_text()))


@needs_proc
def test_an_engine_inherits_only_its_three_standard_streams(tmp_path: Path) -> None:
    """Other engines' pipes and open files of this process are not inherited."""
    with open(tmp_path / "journal", "w") as file, start(f"start: report {tmp_path / 'other'}"):
        os.set_inheritable(file.fileno(), True)
        about = report(tmp_path / "about")
        other = json.loads((tmp_path / "other").read_text())
    descriptors = about["descriptors"]
    assert set(descriptors) == {"0", "1", "2"}
    assert not set(descriptors.values()) & set(other["descriptors"].values())
    assert about["leads"], "the engine does not lead a session and a process group of its own"


@needs_proc
def test_a_command_is_not_run_by_a_shell(tmp_path: Path) -> None:
    words = [f"; touch {tmp_path}/a", f"$(touch {tmp_path}/b)", "`x`", "| cat", "> f", "$HOME", "*"]
    command = [*fake(f"start: report {tmp_path / 'about'}"), *words]
    with Engine.popen(command, timeout=PATIENCE):
        about = json.loads((tmp_path / "about").read_text())
    assert about["words"][2:] == words
    assert [path.name for path in tmp_path.iterdir()] == ["about"]


@needs_resource
@needs_proc
def test_limits_apply_from_the_start(tmp_path: Path) -> None:
    about = report(tmp_path / "about", ResourceLimits(cpu=7, memory=2000, core=0))
    limits = about["limits"]
    assert limits["CPU"] == [7, 8] and limits["AS"] == [2000 * MIB] * 2
    assert limits["CORE"] == [0, 0]
    assert about["leads"] and set(about["descriptors"]) == {"0", "1", "2"}


@needs_resource
@needs_proc
def test_one_limit_does_not_change_the_others(tmp_path: Path) -> None:
    default = report(tmp_path / "default")["limits"]
    limited = report(tmp_path / "limited", ResourceLimits(core=0))["limits"]
    assert limited == default | {"CORE": [0, 0]}


@needs_resource
def test_an_engine_that_exceeds_its_memory_limit_ends() -> None:
    with start("memory", "2000", ResourceLimits(memory=1000)) as engine:
        with pytest.raises(EngineTerminated, match="limited to memory=1000: MemoryError$"):
            engine.play(Position(), Limit(time=PATIENCE))


@needs_resource
def test_an_engine_within_its_memory_limit_plays() -> None:
    with start("memory", "20", ResourceLimits(memory=1000)) as engine:
        assert str(engine.play(Position(), Limit(time=PATIENCE)).move) == "d6"


@needs_resource
def test_an_engine_that_exceeds_its_processor_time_is_killed() -> None:
    with start("cpu", "", ResourceLimits(cpu=1)) as engine:
        with pytest.raises(EngineTerminated, match=r"killed by SIGXCPU, over its limit of cpu=1$"):
            engine.play(Position(), Limit(time=PATIENCE))


@needs_resource
def test_a_limit_that_the_engine_does_not_have_is_not_blamed_for_its_end() -> None:
    """SIGXCPU may come from the system's own limit on processor time."""
    assert ResourceLimits(memory=64).explain(-signal.SIGXCPU) == "limited to memory=64"


@needs_resource
def test_a_program_that_cannot_be_executed_under_limits_is_an_engine_error(tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_text("no program")
    limits = ResourceLimits(core=0)
    with pytest.raises(EngineError, match="cannot start .*Permission denied"):
        Engine.popen([str(program)], limits=limits)
    program.chmod(0o755)
    with pytest.raises(EngineTerminated, match="exit code 126"):
        Engine.popen([str(program)], timeout=PATIENCE, limits=limits)


@needs_resource
def test_limits_are_read_from_the_words_of_an_engine() -> None:
    assert read_limits({"cmd": "x"}) is None
    limits = ResourceLimits(cpu=3, memory=64, core=0)
    words = ["cmd=x", "cpu=3", "memory=64", "core=0"]
    assert read_engine(words, ("uci",)).resources == limits
    assert str(limits) == "cpu=3 memory=64 core=0"
    for word in ("cpu=0", "cpu=1.5", "memory=-1", "memory=x", "core=99999999999", "cpu="):
        key, _, value = word.partition("=")
        with pytest.raises(InputError, match=f"for {key}= of A"):
            read_limits({key: value}, "of A")


def test_limits_are_an_error_on_a_system_without_the_resource_module() -> None:
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
