"""The command ``merels``: its help, its version, and its start as a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import merels
from merels.tournament.commands.main import COMMANDS, main
from tests.commands import output, refusal


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == text and f"merels {name}" in text


def test_help_in_a_separate_process() -> None:
    assert output("help", "tournament").startswith("merels tournament [flags]\n")
    assert "usage: merels tables build" in output("help", "tables", "build")
    assert "merels help COMMAND" in output("help") == output("--help")
    assert "did you mean tournament?" in refusal("help", "tornament")
    assert len(refusal("tournament", "-rounds", "2", "extra").splitlines()) == 1


def test_python_runs_it_as_a_module() -> None:
    assert subprocess.check_output(
        [sys.executable, "-m", "merels", "--version"], encoding="utf-8"
    ) == output("--version")


@pytest.mark.skipif(
    Path(merels.__file__).parent.parent.name == "tournament",
    reason="the finder of an editable installation is asked after the current folder",
)
def test_a_clone_in_the_current_folder_does_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "merels" / "engine").mkdir(parents=True)
    example = "import merels; from merels.engine import Limit; print(merels.__version__, Limit)"
    text = subprocess.check_output([sys.executable, "-c", example], cwd=tmp_path, encoding="utf-8")
    assert text.startswith(f"{merels.__version__} <class 'merels.")
