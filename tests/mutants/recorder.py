"""Records which lines of the sources each test executes, in all its Python processes.

A trial's environment imports this module as ``sitecustomize``; pytest loads it as a plugin.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections.abc import Callable
from os import write  # Some tests replace `os.write`.
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest import TestReport

FOLDER = "MERELS_MUTANTS_LINES"
"""Environment variable: the folder of the records; each process adds a file for each test."""
ROOT = "MERELS_MUTANTS_ROOT"
"""Environment variable: the folder of the sources."""
CURRENT = "current"
"""File in the folder that names the running test; one process may run during several tests."""
_SIZE = 8192
_OPTIMIZED = 1
"""Flag CO_OPTIMIZED of a function's code.

Code of modules and classes lacks it: that code runs at import, not for one test.
"""
_CALLS = 100
"""Largest number of traced calls of a function by one test, which limits the time."""
_CALLS_OF_ALL = 100_000
"""Calls of all functions by one test after which a thread is no longer traced."""

_Tracer = Callable[[FrameType, str, object], object]


class Recorder:
    """Records the lines of one process; writes each at once, as any process may be killed."""

    def __init__(self, folder: str, root: str) -> None:
        self._folder = folder
        self._root = root + os.sep
        self._paths: dict[CodeType, str] = {}
        self._seen: set[tuple[str, int]] = set()
        self._calls: dict[CodeType, int] = {}
        self._calls_left = 0
        self._file = -1
        file = os.open(os.path.join(folder, CURRENT), os.O_RDWR | os.O_CREAT, 0o600)
        os.truncate(file, _SIZE)
        self._current = mmap.mmap(file, _SIZE)
        os.close(file)
        self._stamp = bytes(4)

    def begin(self, test: str) -> None:
        """Attribute the lines that all processes execute from now on to a test."""
        name = test.encode()
        stamp = int.from_bytes(self._current[:4], "big") + 1
        self._current[4 : 8 + len(name)] = len(name).to_bytes(4, "big") + name
        self._current[:4] = stamp.to_bytes(4, "big")
        sys.settrace(self.trace)

    def write(self, path: str, number: int) -> None:
        """Write one line of the record."""
        self._follow()
        write(self._file, f"{path}:{number}\n".encode())

    def trace(self, frame: FrameType, _event: str, _arg: object) -> _Tracer | None:
        """Trace the functions of the sources; the interpreter calls it as its trace function."""
        code = frame.f_code
        path = self._paths.get(code)
        if path is None:
            name = os.path.realpath(code.co_filename).removeprefix(self._root).replace(os.sep, "/")
            is_source = name.partition("/")[0] in ("engine", "protocol", "tournament")
            path = self._paths[code] = name if is_source and code.co_flags & _OPTIMIZED else ""
        if not path or not self._follow():
            return None
        self._calls_left -= 1
        if self._calls_left < 0:
            sys.settrace(None)
        calls = self._calls[code] = self._calls.get(code, 0) + 1
        if calls > _CALLS:
            return None
        seen = self._seen

        def lines(frame: FrameType, event: str, _arg: object) -> object:
            key = (path, frame.f_lineno)
            if key not in seen and event == "line":
                seen.add(key)
                self.write(*key)
            return lines

        lines(frame, "line", None)
        return lines

    def _follow(self) -> bool:
        """Begin a new file if another test runs now; return whether any test runs."""
        stamp = self._current[:4]
        if stamp != self._stamp:
            self._stamp = stamp
            self._seen, self._calls, self._calls_left = set(), {}, _CALLS_OF_ALL
            self._open()
        return stamp != bytes(4)

    def _open(self) -> None:
        size = int.from_bytes(self._current[4:8], "big")
        name = os.path.join(self._folder, os.urandom(12).hex())
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        write(file, self._current[8 : 8 + size] + b"\n")
        if self._file < 0:
            self._file = file
        else:  # Other threads may be writing.
            os.dup2(file, self._file, inheritable=False)
            os.close(file)


def _start() -> Recorder:
    recorder = Recorder(os.environ[FOLDER], os.path.realpath(os.environ[ROOT]))
    threading.settrace(recorder.trace)
    sys.settrace(recorder.trace)
    return recorder


_RECORDER = _start() if FOLDER in os.environ and __name__ == "sitecustomize" else None


def pytest_runtest_logstart(nodeid: str) -> None:
    """Begin a test."""
    if _RECORDER is not None:
        _RECORDER.begin(nodeid)


def pytest_runtest_logreport(report: TestReport) -> None:
    """Add the time of a phase of the test, in milliseconds and without a path."""
    if _RECORDER is not None:
        _RECORDER.write("", int(1000 * report.duration))
