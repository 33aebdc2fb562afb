"""What tests need of processes: that they end, and which of an engine's are left."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from merels.protocol.process.guardian import GUARDIAN, MARK

FAKE = (sys.executable, str(Path(__file__).parent / "fakes" / "fake.py"))
SANMILL = (sys.executable, str(Path(__file__).parent / "fakes" / "sanmill.py"))
LATE = (sys.executable, "-I", "-S", str(Path(__file__).parent / "fakes" / "late.py"))
HOSTILE = (
    sys.executable, "-I", "-S", str(Path(__file__).parent / "fakes" / "hostile.py")
)

needs_resource = pytest.mark.skipif(
    importlib.util.find_spec("resource") is None, reason="needs a system with resource limits"
)
needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/environ"), reason="needs /proc"
)


Process = TypeVar("Process", bound="subprocess.Popen[str] | subprocess.Popen[bytes]")


@contextmanager
def limited(process: Process, seconds: float = 60.0) -> Iterator[Process]:
    """A process that is killed after a while, or at the end: no read from it waits forever."""
    watchdog = start_watchdog(process, seconds)
    try:
        yield process
    finally:
        watchdog.cancel()
        end(process)


def start_watchdog(
    process: subprocess.Popen[str] | subprocess.Popen[bytes], seconds: float
) -> threading.Timer:
    """Kills a process after so many seconds, unless it is cancelled."""
    watchdog = threading.Timer(seconds, process.kill)
    watchdog.daemon = True
    watchdog.start()
    return watchdog


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a process, if it still runs, and close its pipes."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                pass  # What was written is lost with its reader.


def own_mark() -> str:
    """The mark in the environment of every engine that this process starts."""
    return GUARDIAN.environment()[MARK].split()[-1]


def marked(mark: str) -> list[int]:
    """The processes that carry a mark, and are not merely waiting to be reaped."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                environment = Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environment:
                found.append(int(name))
    return found


def wait_for_file(path: Path, seconds: float = 120) -> None:
    """Wait until another process has made a file."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.01)


def wait_until_gone(mark: str, seconds: float = 60.0) -> list[int]:
    """The processes with a mark that are still there after so long; empty as soon as none is."""
    deadline = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def assert_none_is_left() -> None:
    """Nothing that this process started may be left, as far as the system tells."""
    if os.path.exists("/proc/self/environ"):
        assert wait_until_gone(own_mark()) == []
