"""Messages between runner and worker processes: pickles on a pair of pipes.

`multiprocessing.connection` frames messages as well, but takes a pipe's descriptor on POSIX only.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

_LENGTH = struct.Struct("!Q")


class Call(NamedTuple):
    """A request to call a function."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


class Leave(NamedTuple):
    """A request to begin no further game; with ``quit``, to end after the game in progress."""

    quit: bool


class Report(NamedTuple):
    """Something that a call reports before it returns."""

    content: Any


class Returned(NamedTuple):
    """The end of a call: its value, or the traceback of what it raised."""

    value: Any
    failure: str | None = None


class Link:
    """One end of a pair of pipes, by descriptor.

    Descriptors are read and written directly: a thread that is blocked on a buffered file holds a
    lock, and CPython aborts at exit because of it.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._sending = threading.Lock()

    def send(self, message: Any) -> None:
        """Write a message, from any thread; OSError when the other end is gone."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        view = memoryview(_LENGTH.pack(len(data)) + data)
        with self._sending:
            while view:
                view = view[os.write(self._sink, view) :]

    def receive(self) -> Any:
        """Wait for a message; EOFError when the other end is gone."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        return pickle.loads(self._read(length))

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = os.read(self._source, min(length, 1 << 20))
            if not part:
                raise EOFError("the other end is gone")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)
