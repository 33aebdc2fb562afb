"""Runs of ``merels`` in new processes, and the processes that they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from tests.processes import end, marked, start_watchdog, wait_until_gone

MARK = "MERELS_TEST_MARK"
COMMAND = [sys.executable, "-P", "-m", "merels.tournament.commands.main", "tournament"]
LONGEST = 400.0
"""Seconds until a run whose lines a test reads is killed; `Marked.wait` has its own limit."""


class Marked:
    """A process whose descendants are recognized by a mark in their environment.

    `end_runs` ends the processes that a test leaves behind.
    """

    started: ClassVar[list[Marked]] = []

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
        self.started.append(self)

    def wait(self, timeout: float = 300.0) -> tuple[int, str, str]:
        """Wait for the end; return exit status, output and error output."""
        self.watchdog.cancel()
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with suppress(OSError):  # Workers of the run would keep its pipes open.
                for number in marked(self.mark):
                    os.kill(number, signal.SIGKILL)
            out, err = self.process.communicate()
            raise AssertionError(f"the run hangs; it printed:\n{out}\n{err}") from None
        return self.process.returncode, out, err

    def survivors(self, patience: float = 60.0) -> list[str]:
        """Return the command lines of this run's processes left after ``patience`` seconds."""
        return marked_commands(self.mark, patience)


def end_runs() -> None:
    """Kill all runs that were started; their engines detect it and end."""
    for run in Marked.started:
        run.watchdog.cancel()
        end(run.process)
    Marked.started.clear()


def wait_for(run: Marked, text: str) -> None:
    """Read lines until one begins with ``text``."""
    for line in run.process.stdout or ():
        if line.startswith(text):
            return
    raise AssertionError(f"no line begins with {text!r}")


def marked_commands(mark: str, patience: float) -> list[str]:
    """Return the command lines of processes with a mark in their environment.

    They have ``patience`` seconds to end.
    """
    commands = []
    for number in wait_until_gone(mark, patience):
        try:
            words = Path(f"/proc/{number}/cmdline").read_bytes()
        except OSError:
            continue  # It ended meanwhile.
        commands.append(words.replace(b"\0", b" ").decode())
    return commands
