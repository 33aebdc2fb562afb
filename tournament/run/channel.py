"""Messages between runner and worker processes: length-prefixed pickles on a pair of pipes.

`multiprocessing.connection` is not used, because it accepts pipe descriptors only on POSIX.
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
    """A request to start no further game; with ``quit``, also to exit after the current game."""

    quit: bool


class Report(NamedTuple):
    """A message that a call sends before it returns."""

    content: Any


class Returned(NamedTuple):
    """The result of a call: its value, or the traceback of its exception."""

    value: Any
    failure: str | None = None


class Link:
    """One end of a pair of pipes, given by the descriptors to read from and to write to.

    The descriptors are used without buffered files: a thread blocked on a buffered file holds its
    lock, and CPython aborts at exit if it cannot take that lock.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._sending = threading.Lock()

    def send(self, message: Any) -> None:
        """Write a message, from any thread; raise `OSError` if the other end is closed."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        view = memoryview(_LENGTH.pack(len(data)) + data)
        with self._sending:
            while view:
                view = view[os.write(self._sink, view) :]

    def receive(self) -> Any:
        """Wait for a message and return it; raise `EOFError` if the other end is closed."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        return pickle.loads(self._read(length))

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = os.read(self._source, min(length, 1 << 20))
            if not part:
                raise EOFError("the other end is closed")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)
