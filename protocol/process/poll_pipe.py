"""The pipe of systems that can poll one: raw descriptors, microseconds of CPU a round trip."""

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
"""Bytes that are kept for later while the engine does not read what it is sent."""
_WAIT_WITHOUT_SENTINEL = 200
_WHOLE = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes whole or not at all."""


class PollPipe(Pipe):
    """One thread reads and writes, whichever is possible."""

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

    def _close_input(self) -> None:
        super()._close_input()
        # The number of a closed descriptor soon means another file, perhaps another engine's.
        self._input = -1

    def close(self) -> None:
        self._input = self._output = -1
        self._poll = select.poll()

    def is_quiet(self) -> bool:
        return not (self._lines or self._backlog or self._poll.poll(0))

    def exchange(
        self, data: bytes, deadline: int, timeout: int, clear: Callable[[], None]
    ) -> bytes | None:
        """`Pipe.exchange`, the hot path of tournaments, in as few steps as it takes."""
        unusual = self.trace is not None or self.tail or self._cut or self._lines or self._backlog
        if unusual or len(data) > _WHOLE:
            return super().exchange(data, deadline, timeout, clear)
        try:
            chunk = round_trip(
                self._writing, self._input, data, self._output, self._sentinel, self._errors,
                self._longest_wait, timeout,
            )
        except OSError:  # Nothing was written: the pipe is full or closed, or something is there.
            return super().exchange(data, deadline, timeout, clear)
        if chunk is None:
            return None
        if chunk[-1:] != b"\n":
            return self._take(chunk)
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
        """The end of the output if the process has ended: a child of it may hold the pipe open."""
        return None if self.process.exit_status() is None else b""

    def _write(self, data: bytes, deadline: int, reading: bool) -> None:
        try:
            written = os.write(self._input, data)
        except BlockingIOError:
            written = 0
        except OSError:
            raise self._no_input(reading) from None
        if written < len(data):
            self._write_rest(data[written:], deadline, reading)

    def _write_rest(self, data: bytes, deadline: int, reading: bool) -> None:
        """Write what the full pipe did not take."""
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        if reading:
            poll.register(self._output, select.POLLIN)
            if self.process.errors.descriptor >= 0:
                poll.register(self._errors, select.POLLIN)
        while data:
            left = deadline - monotonic_ns()
            if left < 0:
                raise EngineTimeout("does not read its input")
            for descriptor, _ in poll.poll(min(left // MILLISECOND + 1, self._longest_wait)):
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
                    raise self._no_input(reading) from None

    def _read_ahead(self) -> bool:
        """Keep what the engine writes, up to a bound; False at the end of its output."""
        try:
            chunk = os.read(self._output, CHUNK)
        except OSError:
            return False
        if len(self._backlog) < LARGEST_BACKLOG:
            self._backlog += chunk
        return bool(chunk)

    def _no_input(self, reading: bool) -> EngineTerminated:
        """The error that the engine has closed its input, or has ended."""
        # Waiting for its end would read what it still writes.
        return EngineTerminated(self.process.describe_end(0.5 if reading else 0.0, "input"))


def open_pipe(process: EngineProcess, trace: Trace | None = None) -> Pipe:
    """The fastest pipe that the system has."""
    return PollPipe(process, trace) if POSIX else ThreadPipe(process, trace)
