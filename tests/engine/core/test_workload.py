"""The workload of the sanitizer builds, run with the installed build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the workload in a new process, which a failed assertion ends at once."""
    command = [sys.executable, "-m", "tests.sanitize.workload", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_the_workload_passes() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("signature ")


def test_an_unknown_part_is_named() -> None:
    done = run("move")
    assert done.returncode != 0 and done.stderr.startswith("move: expected one of counts")
