"""Building from source."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(
    sys.platform == "win32" or importlib.util.find_spec("Cython") is None,
    reason="builds with Cython and a Unix compiler",
)
def test_a_missing_compiler_is_one_line() -> None:
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    environment = {**os.environ, "CC": "/no/such/cc -pthread"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("merels needs a C compiler, and '/no/such/cc' was not found: install")
