"""Engine pipes on Windows, which cannot poll them: one thread for each pipe.

The tests also run this code on POSIX systems.
"""

from __future__ import annotations

import os
import queue
import threading
from contextlib import suppress
from time import monotonic_ns

from merels.protocol.process.command import POSIX
from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import LONGEST_WAIT, Pipe, Trace
from merels.protocol.process.process import CHUNK, EngineProcess
from merels.protocol.process.standard_error import StandardError

_CHUNKS_AHEAD = 64
"""Chunks of output that the reading thread keeps before it waits."""
_CLOSE_SECONDS = 0.1
"""Wait of `close_input` for space in the queue of input, in seconds."""


class ThreadPipe(Pipe):
    """Engine pipes with a reading and a writing thread, each connected by a queue.

    A third thread reads standard error. Each thread uses a duplicate of its descriptor, because the
    original may be closed, and its number reused by the system, while the thread still runs.
    """

    def _connect(self) -> None:
        process = self.process
        self._received: queue.Queue[bytes] = queue.Queue(_CHUNKS_AHEAD)
        self._unsent: queue.Queue[bytes] = queue.Queue(1)
        self._at_end = False
        self._broken = False
        """Whether writing has ended: the engine has stopped reading, or the pipe is closed."""
        self._closed = False
        for task, descriptor in ((self._reader, process.stdout), (self._writer, process.stdin)):
            duplicate = os.dup(descriptor)
            threading.Thread(target=task, args=(duplicate,), daemon=True).start()
        _read_errors(process.errors)
        self._input = self._output = -1  # The threads use the duplicates only.

    def _reader(self, descriptor: int) -> None:
        while True:
            try:
                chunk = os.read(descriptor, CHUNK)
            except OSError:
                chunk = b""
            if not self._closed:
                self._received.put(chunk)
            if not chunk:
                break
        os.close(descriptor)

    def _writer(self, descriptor: int) -> None:
        """Write the chunks in the queue until a chunk is b'' or the input cannot be written."""
        while not self._broken and (data := self._unsent.get()):
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:
                self._broken = True
                with suppress(queue.Empty):  # Release a thread that waits for space in the queue.
                    self._unsent.get_nowait()
        os.close(descriptor)

    def _close_input(self) -> None:
        """Close the input after the data in the queue, or drop this data after `_CLOSE_SECONDS`."""
        try:
            self._unsent.put(b"", timeout=_CLOSE_SECONDS)
        except queue.Full:
            self._broken = True
        super()._close_input()

    def close(self) -> None:
        """Make both threads end, even if they wait for a queue."""
        self._closed = self._broken = True
        with suppress(queue.Full):
            self._unsent.put_nowait(b"")
        with suppress(queue.Empty):
            while True:
                self._received.get_nowait()

    def _read(self, milliseconds: int) -> bytes | None:
        if self._at_end:
            return b""
        try:
            seconds = max(0, min(milliseconds, LONGEST_WAIT)) / 1000
            chunk = self._received.get(timeout=seconds)
        except queue.Empty:
            return None
        self._at_end = not chunk
        return chunk

    def _write(self, data: bytes, deadline: int, reading: bool) -> None:
        """Queue ``data`` for the writing thread; `EngineTimeout` if the queue stays full."""
        if self._broken:
            raise EngineTerminated(self.process.describe_end())
        try:
            seconds = (deadline - monotonic_ns()) / 1e9
            self._unsent.put(data, timeout=min(max(0.0, seconds), LONGEST_WAIT / 1000))
        except queue.Full:
            raise EngineTimeout("does not read its input") from None


def _read_errors(errors: StandardError) -> None:
    """Read standard error in a thread from now on."""
    # The thread may still wait in a read when `close` closes the original descriptor.
    duplicate, errors.descriptor = os.dup(errors.descriptor), -1
    if POSIX:
        os.set_blocking(duplicate, True)

    def read_all() -> None:
        with suppress(OSError):
            while chunk := os.read(duplicate, CHUNK):
                errors.store(chunk)
        os.close(duplicate)

    errors.reader = threading.Thread(target=read_all, daemon=True)
    errors.reader.start()


def open_pipe(process: EngineProcess, trace: Trace | None = None) -> Pipe:
    """Return a pipe of the kind that this system has."""
    return (Pipe if POSIX else ThreadPipe)(process, trace)
