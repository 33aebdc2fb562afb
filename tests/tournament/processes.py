"""Runs of ``merels`` in new processes, and the processes that they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from tests.commands import call
from tests.processes import end, marked, start_watchdog, wait_until_gone

MARK = "MERELS_TEST_MARK"
ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-P", "-m", "merels.tournament.commands.main", "tournament"]
LONGEST = 400.0
"""Seconds until a run whose output a test reads is killed; `Marked.wait` has its own limit."""


class Marked:
    """A run of merels whose processes have a mark in their environment.

    `end_runs` ends the runs that a test leaves behind.
    """

    started: ClassVar[list[Marked]] = []

    def __init__(self, *arguments: str, command: str = "tournament", **options: object) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [*COMMAND[:-1], command, *arguments],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env={**os.environ, MARK: self.mark, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)},
            **{"stdout": subprocess.PIPE, **options},  # type: ignore[call-overload]
        )
        self.watchdog = start_watchdog(self.process, LONGEST)
        self.started.append(self)

    def wait(self, timeout: float = 300.0) -> tuple[int, str, str]:
        """Wait for the run to end; return exit status, output and error output."""
        self.watchdog.cancel()
        try:
            out, err = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self._kill_workers()
            out, err = self.process.communicate(timeout=60.0)
            raise AssertionError(f"the run hangs; it printed:\n{out}\n{err}") from None
        return self.process.returncode, out, err

    def _kill_workers(self) -> None:
        """Kill all processes with the mark, which would keep the run's pipes open."""
        deadline = time.monotonic() + 60.0
        with suppress(FileNotFoundError):  # a system without /proc
            while (pids := marked(self.mark)) and time.monotonic() < deadline:
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def survivors(self, patience: float = 60.0) -> list[str]:
        """Return the command lines of this run's processes left after ``patience`` seconds."""
        return marked_commands(self.mark, patience)


def play(
    *words: str, command: str = "tournament", cwd: Path | None = None
) -> tuple[str, str]:
    """Call a command of merels that must succeed; return its output and error output."""
    done = call(command, *words, folder=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def page_address(run: Marked) -> str:
    """Return the address of the page of a run with ``-serve``."""
    return next(line for line in run.process.stderr if "standings at" in line).split()[-1]


def end_runs() -> None:
    """Kill all runs that were started; their workers and engines detect this and end."""
    for run in Marked.started:
        run.watchdog.cancel()
        end(run.process)
    Marked.started.clear()


def wait_for(run: Marked, text: str) -> None:
    """Read a run's output up to a line that begins with ``text``."""
    for line in run.process.stdout or ():
        if line.startswith(text):
            return
    raise AssertionError(f"no line begins with {text!r}")


def marked_commands(mark: str, patience: float) -> list[str]:
    """Return the command lines of the processes with a mark left after ``patience`` seconds."""
    commands = []
    for pid in wait_until_gone(mark, patience):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue  # The process has ended meanwhile.
        commands.append(words.replace(b"\0", b" ").decode())
    return commands
