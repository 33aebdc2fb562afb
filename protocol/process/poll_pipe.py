"""Engine pipes using poll(2)."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from time import monotonic_ns

from merels.protocol.process.command import POSIX
from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import CHUNK, LONGEST_WAIT, MILLISECOND, Pipe, Trace
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.round_trip import round_trip
from merels.protocol.process.thread_pipe import ThreadPipe

LARGEST_BACKLOG = 1 << 22
"""Bytes of output after which further output is dropped while the engine reads no input."""
_WAIT_WITHOUT_SENTINEL = 200
"""Milliseconds between checks of whether the process has ended, where no sentinel reports it."""
_ATOMIC_WRITE = getattr(select, "PIPE_BUF", 512)
"""Largest write in bytes that a pipe accepts completely or not at all."""


class PollPipe(Pipe):
    """Engine pipes that one thread reads and writes, as poll(2) reports them ready."""

    def __init__(self, process: EngineProcess, trace: Trace | None = None) -> None:
        super().__init__(process, trace)
        self._input = process.stdin
        self._output = process.stdout
        self._errors = process.errors.descriptor
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._poll.register(self._errors, select.POLLIN)
        self._sentinel = -1
        self._longest_wait = _WAIT_WITHOUT_SENTINEL
        if process.sentinel is not None:
            self._poll.register(process.sentinel, select.POLLIN)
            self._sentinel = process.sentinel
            self._longest_wait = LONGEST_WAIT
        self._backlog = b""
        """Output that was read during a write."""

    def _close_input(self) -> None:
        super()._close_input()
        # The system may reuse the descriptor's number, even for another engine's pipe.
        self._input = -1

    def close(self) -> None:
        self._input = self._output = -1
        self._poll = select.poll()

    def is_quiet(self) -> bool:
        return not (self._lines or self._backlog or self._poll.poll(0))

    def exchange(
        self, data: bytes, deadline: int, timeout: int, clear: Callable[[], None]
    ) -> bytes | None:
        """Do as `Pipe.exchange`, if possible in one compiled call, which is faster."""
        unusual = self.trace is not None or self.tail or self._cut or self._lines or self._backlog
        if unusual or len(data) > _ATOMIC_WRITE:
            return super().exchange(data, deadline, timeout, clear)
        try:
            chunk = round_trip(
                self._writing, self._input, data, self._output, self._sentinel, self._errors,
                self._longest_wait, timeout,
            )
        except OSError:  # Nothing was written: the input is full or closed, or output has arrived.
            return super().exchange(data, deadline, timeout, clear)
        if chunk is None:
            return None
        if chunk[-1:] != b"\n":
            return self._accept(chunk)
        self.arrived = monotonic_ns()
        return chunk

    def _read(self, milliseconds: int) -> bytes | None:
        if self._backlog:
            data, self._backlog = self._backlog, b""
            return data
        if milliseconds > self._longest_wait:
            milliseconds = self._longest_wait
        ready = [descriptor for descriptor, _ in self._poll.poll(milliseconds)]
        if not ready:
            return self._end() if milliseconds and self.process.sentinel is None else None
        try:
            return os.read(self._output, CHUNK)
        except BlockingIOError:
            if self._errors in ready and not self.process.errors.drain():
                self._poll.unregister(self._errors)
                self._errors = -1
            return self._end() if self.process.sentinel in ready else None
        except OSError:
            return b""

    def _end(self) -> bytes | None:
        """Return b'' if the process has ended, although a child may hold the pipe open."""
        return None if self.process.exit_status() is None else b""

    def _write(self, data: bytes, deadline: int, reading: bool) -> None:
        try:
            written = os.write(self._input, data)
        except BlockingIOError:
            written = 0
        except OSError:
            raise self._input_closed(reading) from None
        if written < len(data):
            self._write_rest(data[written:], deadline, reading)

    def _write_rest(self, data: bytes, deadline: int, reading: bool) -> None:
        """Write the part of a request that a full pipe has not accepted."""
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        if reading:
            poll.register(self._output, select.POLLIN)
            if self.process.errors.descriptor >= 0:
                poll.register(self._errors, select.POLLIN)
        while data:
            remaining = deadline - monotonic_ns()
            if remaining < 0:
                raise EngineTimeout("does not read its input")
            for descriptor, _ in poll.poll(min(remaining // MILLISECOND + 1, self._longest_wait)):
                if descriptor != self._input:
                    is_output = descriptor == self._output
                    if not (self._read_ahead() if is_output else self.process.errors.drain()):
                        poll.unregister(descriptor)
                    continue
                try:
                    data = data[os.write(self._input, data) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise self._input_closed(reading) from None

    def _read_ahead(self) -> bool:
        """Keep output up to `LARGEST_BACKLOG`; return False at the end of output."""
        try:
            chunk = os.read(self._output, CHUNK)
        except OSError:
            return False
        if len(self._backlog) < LARGEST_BACKLOG:
            self._backlog += chunk
        return bool(chunk)

    def _input_closed(self, reading: bool) -> EngineTerminated:
        """Return the error for an engine that has closed its input or has ended."""
        # Waiting for the end drops output, which only the pipe's own thread may do.
        return EngineTerminated(self.process.describe_end(0.5 if reading else 0.0, "input"))


def open_pipe(process: EngineProcess, trace: Trace | None = None) -> Pipe:
    """Return the fastest kind of pipe for this system."""
    return PollPipe(process, trace) if POSIX else ThreadPipe(process, trace)
