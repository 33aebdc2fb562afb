"""Helpers for tests with processes: engines, time limits, and a check for processes left behind."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from merels.protocol.process.guardian import GUARDIAN, MARK

needs_resource = pytest.mark.skipif(
    importlib.util.find_spec("resource") is None, reason="needs a system with resource limits"
)
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")

Process = TypeVar("Process", bound="subprocess.Popen[str] | subprocess.Popen[bytes]")


@contextmanager
def limited(process: Process, seconds: float = 60.0) -> Iterator[Process]:
    """Kill a process after ``seconds``, or at the end of the block, so that no read hangs."""
    watchdog = start_watchdog(process, seconds)
    try:
        yield process
    finally:
        watchdog.cancel()
        end(process)


def start_watchdog(
    process: subprocess.Popen[str] | subprocess.Popen[bytes], seconds: float
) -> threading.Timer:
    """Start a timer that kills a process after ``seconds`` unless it is cancelled; return it."""
    watchdog = threading.Timer(seconds, process.kill)
    watchdog.daemon = True
    watchdog.start()
    return watchdog


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a process if it is still running, and close its pipes."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                pass  # Unsent data is lost, as the process no longer reads.


def own_mark() -> str:
    """Return the mark in the environment of every engine that this process starts."""
    return GUARDIAN.environment()[MARK].split()[-1]


def marked(mark: str) -> list[int]:
    """Return the ids of the running processes with a mark in their environment."""
    ids = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environment:
                ids.append(int(name))
    return ids


def wait_for_file(path: Path, seconds: float = 120) -> None:
    """Wait until another process has made a file."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.01)


def wait_until_gone(mark: str, seconds: float = 60.0) -> list[int]:
    """Wait up to ``seconds`` until no process has a mark; return the ids of the processes left."""
    deadline = time.monotonic() + seconds
    while (ids := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return ids


def assert_no_engine_is_left() -> None:
    """Assert that all engines of this process have ended; without /proc, do nothing.

    Engines that are left are killed, so that the next test does not find them.
    """
    if os.path.exists("/proc/self/environ"):
        left = wait_until_gone(own_mark())
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert left == []
