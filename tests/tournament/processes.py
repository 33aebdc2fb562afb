"""Runs of the command in processes of their own, and a look at what they leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import ClassVar

from tests.processes import end, start_watchdog, wait_until_gone

MARK = "MERELS_TEST_MARK"
COMMAND = [sys.executable, "-P", "-m", "merels.tournament.commands.main", "tournament"]
LONGEST = 400.0
"""Seconds after which a run is killed, unless `Marked.wait` waits for its end: for its lines."""


class Marked:
    """A process whose descendants can be told by a mark in their environment.

    Those that a test leaves behind are ended after it: see `end_runs`.
    """

    begun: ClassVar[list[Marked]] = []

    def __init__(self, *arguments: str, command: str = "tournament", **options: object) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [*COMMAND[:-1], command, *arguments],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, MARK: self.mark, "PYTHONUNBUFFERED": "1"},
            **{"stdout": subprocess.PIPE, **options},  # type: ignore[call-overload]
        )
        self.watchdog = start_watchdog(self.process, LONGEST)
        self.begun.append(self)

    def wait(self, timeout: float = 300.0) -> tuple[int, str, str]:
        """Exit status, output and error output."""
        self.watchdog.cancel()
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"the run hangs; it printed:\n{out}\n{err}") from None
        return self.process.returncode, out, err

    def survivors(self, patience: float = 60.0) -> list[str]:
        """The command lines of processes of this run that are still there after a while."""
        return marked_commands(self.mark, patience)


def end_runs() -> None:
    """End all runs that have begun; their engines end with them."""
    for run in Marked.begun:
        run.watchdog.cancel()
        end(run.process)
    Marked.begun.clear()


def wait_for(run: Marked, text: str) -> None:
    """Read lines until one begins with the text."""
    for line in run.process.stdout or ():
        if line.startswith(text):
            return
    raise AssertionError(f"no line begins with {text!r}")


def marked_commands(mark: str, patience: float) -> list[str]:
    """The command lines of processes with a mark that are still there after so many seconds."""
    found = []
    for number in wait_until_gone(mark, patience):
        try:
            words = Path(f"/proc/{number}/cmdline").read_bytes()
        except OSError:
            continue  # It ended meanwhile.
        found.append(words.replace(b"\0", b" ").decode())
    return found
