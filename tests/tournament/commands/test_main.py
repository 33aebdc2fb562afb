"""The command ``merels``: its help, its version, its start without a command and as a module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import merels
from merels.engine import full_version
from merels.tournament.commands.main import COMMANDS, main
from tests.commands import output, refusal, run_process


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert main(["help", name]) == 0
    assert capsys.readouterr().out == text and f"merels {name}" in text


def test_help_is_printed_in_every_spelling() -> None:
    assert output("help", "tournament").startswith("merels tournament [flags]\n")
    assert "usage: merels tables build" in output("help", "tables", "build")
    assert "merels help COMMAND" in output("help") == output("--help")
    assert "did you mean tournament?" in refusal("help", "tornament")
    assert len(refusal("tournament", "-rounds", "2", "extra").splitlines()) == 1


def test_a_misspelt_command_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["turnament"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "did you mean tournament?" in err


def test_version_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"merels {full_version()}\n"


def test_without_a_command_merels_runs_the_engine() -> None:
    text = run_process(typed="uci\nquit\n").stdout
    assert text.startswith("id name merels") and text.endswith("uciok\n")


def test_merels_runs_as_a_module() -> None:
    assert subprocess.check_output(
        [sys.executable, "-m", "merels", "--version"], encoding="utf-8"
    ) == output("--version")


def test_a_name_of_a_package_is_an_error_that_says_which() -> None:
    for name, package in (("Position", "engine"), ("Engine", "protocol"), ("Sprt", "tournament")):
        with pytest.raises(AttributeError, match=f"{name}'; it is in merels.{package}"):
            getattr(merels, name)
    with pytest.raises(AttributeError, match="no attribute 'Board'$"):
        getattr(merels, "Board")


@pytest.mark.skipif(
    Path(merels.__file__).parent.parent.name == "tournament",
    reason="the finder of an editable installation is asked after the current folder",
)
def test_a_clone_in_the_current_folder_does_not_hide_the_package(tmp_path: Path) -> None:
    (tmp_path / "merels" / "engine").mkdir(parents=True)
    example = "import merels; from merels.engine import Limit; print(merels.__version__, Limit)"
    text = subprocess.check_output([sys.executable, "-c", example], cwd=tmp_path, encoding="utf-8")
    assert text.startswith(f"{merels.__version__} <class 'merels.")


INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from merels.__main__ import main
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to itself")
@pytest.mark.parametrize("name", ["merels.engine", "merels.protocol.commands.exit_status"])
def test_an_interrupt_during_the_imports_prints_no_traceback(name: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
