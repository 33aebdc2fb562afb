"""Scripts and commands that cannot write large files, as on a full disk."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PRELUDE = """
import resource, sys
sys.dont_write_bytecode = True
def limit_files(size=resource.RLIM_INFINITY):
    largest = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, largest))
"""
_COMMAND = """
from merels.tournament.commands.main import main
limit_files(int(sys.argv.pop(1)))
sys.exit(main(sys.argv[1:]))
"""


def run_script(
    script: str, *arguments: object, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a script that can call ``limit_files(bytes)``, and ``limit_files()`` to end the limit.

    The process stores no bytecode: Python would store a truncated module, on which later runs fail.
    """
    pytest.importorskip("resource")
    return subprocess.run(
        [sys.executable, "-P", "-c", _PRELUDE + script, *map(str, arguments)],
        capture_output=True, text=True, timeout=seconds,
    )


def run_command(
    size: int, *words: object, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command of merels that cannot make a file larger than ``size`` bytes."""
    return run_script(_COMMAND, size, *words, seconds=seconds)
