"""Functions that run a command of merels, in this process or in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from merels.tournament.commands.main import main

MERELS = (sys.executable, "-m", "merels.tournament.commands.main")


def command(name: str) -> Callable[[Sequence[str]], int]:
    """Return a function that runs ``merels NAME`` with given words and returns the exit status."""
    return lambda words: main([name, *words])


def run(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, str, str]:
    """Run ``merels`` in this process; return its exit status, standard output and error output."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def run_process(
    *words: str, typed: str = "", tables: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``merels`` in a new process; ``typed`` is its input, ``tables`` its folder of tables."""
    environment = {} if tables is None else {"MERELS_TABLES": str(tables)}
    return subprocess.run(
        [*MERELS, *words], input=typed, capture_output=True, encoding="utf-8", timeout=300,
        env=os.environ | environment,
    )  # fmt: skip


def output(*words: str, typed: str = "", tables: Path | None = None) -> str:
    """Run a command that must succeed without error output; return its standard output."""
    done = run_process(*words, typed=typed, tables=tables)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refusal(*words: str, typed: str = "") -> str:
    """Run a command that must refuse its arguments; return its error output."""
    done = run_process(*words, typed=typed)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr
