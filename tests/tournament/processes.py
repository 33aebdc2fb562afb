"""Runs of the command in processes of their own, and a look at what they leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

MARK = "MERELS_TEST_MARK"
COMMAND = [sys.executable, "-P", "-m", "merels.tournament.cli", "tournament"]


class Marked:
    """A process whose descendants can be told by a mark in their environment."""

    def __init__(self, *arguments: str, **options: object) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, MARK: self.mark, "PYTHONUNBUFFERED": "1"},
            **options,  # type: ignore[call-overload]
        )

    def wait(self, timeout: float = 60.0) -> tuple[int, str, str]:
        """Exit status, output and error output."""
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"the run hangs; it printed:\n{out}\n{err}") from None
        return self.process.returncode, out, err

    def survivors(self, patience: float = 5.0) -> list[str]:
        """The command lines of processes of this run that are still there after a while."""
        return marked_commands(self.mark, patience)


def marked_commands(mark: str, patience: float) -> list[str]:
    """The command lines of processes with a mark that are still there after so many seconds."""
    deadline = time.monotonic() + patience
    while (left := _alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _alive(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found
