"""Running a command of merels, in this process or in one of its own."""

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
    """What runs ``merels NAME`` with the words behind it and returns the exit status."""
    return lambda words: main([name, *words])


def run(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, str, str]:
    """Run ``merels`` with some words; returns its exit status, output and errors."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def shell(
    *words: str, typed: str = "", tables: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``merels`` in a process to its end, with the tables in a folder."""
    environment = {} if tables is None else {"MERELS_TABLES": str(tables)}
    return subprocess.run(
        [*MERELS, *words], input=typed, capture_output=True, encoding="utf-8", timeout=300,
        env=os.environ | environment,
    )  # fmt: skip


def output(*words: str, typed: str = "", tables: Path | None = None) -> str:
    """The output of a command that succeeds and complains of nothing."""
    done = shell(*words, typed=typed, tables=tables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refusal(*words: str, typed: str = "") -> str:
    """What a command says of a mistake for which it ends."""
    done = shell(*words, typed=typed)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr
