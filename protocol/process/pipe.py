"""Lines to and from an engine, over its standard input and output."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic_ns

from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.round_trip import round_trip
from merels.protocol.process.standard_error import WIDE_PIPE

CHUNK = 1 << 16
"""Maximum number of bytes of one read."""
LONGEST_LINE = 1 << 16
"""Bytes after which a line is cut if its end has not arrived; the rest of the line is dropped."""
MILLISECOND = 1_000_000
"""One millisecond in nanoseconds."""
LONGEST_WAIT = 1 << 30
"""Longest timeout of one system call, in milliseconds."""
LARGEST_BACKLOG = 1 << 22
"""Bytes of output after which further output is dropped while the engine reads no input."""
_WAIT_WITHOUT_SENTINEL = 200
"""Milliseconds between checks of whether the process has ended, where no sentinel reports it."""
_ATOMIC_WRITE = getattr(select, "PIPE_BUF", 512)
"""Largest write in bytes that a pipe accepts completely or not at all."""

Trace = Callable[[str, bytes], None]
"""Called with ``>`` (sent) or ``<`` (received) and one or more whole lines."""


class Pipe:
    """The lines to and from an engine, moved by one thread as poll(2) reports the pipes ready.

    On Windows, the subclass `ThreadPipe` moves the bytes.

    ``arrived`` is the time at which output was last received. ``sent`` is the time at which
    ``trace`` last returned to `send`; 0 without ``trace``. ``received`` is the number of bytes that
    `receive` has read so far. ``tail`` is the beginning of a line whose line feed has not arrived.
    Times and deadlines are in nanoseconds of `monotonic_ns`.

    One thread uses a pipe; other threads may call `interject` and `close_input` only.
    """

    def __init__(self, process: EngineProcess, trace: Trace | None = None) -> None:
        self.process = process
        self.trace = trace
        self.arrived = self.sent = self.received = 0
        self._writing = Lock()
        self._lines: deque[bytes] = deque()
        self.tail = b""
        self._cut = False
        """Whether the rest of an overlong line is still to be dropped."""
        self._overtime = 0
        """Bytes of whole lines that `read_raw_line` has read after its deadline."""
        self._backlog = b""
        """Output that was read during a write."""
        self._connect()

    def _connect(self) -> None:
        """Prepare to read and write."""
        process = self.process
        self._input, self._output = process.stdin, process.stdout
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

    def close_input(self, timeout: float = -1.0) -> None:
        """Close the engine's input after the lines sent so far; any thread may call this.

        The input stays open if another thread still sends after ``timeout`` seconds (-1: no limit).
        """
        if self._writing.acquire(timeout=timeout):
            try:
                self._close_input()
            finally:
                self._writing.release()

    def _close_input(self) -> None:
        self.process.close_input()
        # The system may reuse the descriptor's number, even for another engine's pipe.
        self._input = -1

    def close(self) -> None:
        """Stop using the descriptors of a process that is closed."""
        self._input = self._output = -1
        self._poll = select.poll()

    def send(self, data: bytes, deadline: int) -> None:
        """Send whole lines; `EngineTimeout` if the engine's input stays full until the deadline.

        The time that ``trace`` takes, for example on a slow disk, is added to the deadline.
        """
        with self._writing:
            if self.trace is not None:
                before = monotonic_ns()
                self.trace(">", data)
                self.sent = monotonic_ns()
                deadline += self.sent - before
            self._write(data, deadline, True)

    def interject(self, data: bytes, deadline: int, wanted: Callable[[], bool]) -> None:
        """Send whole lines from any thread, if ``wanted`` returns True.

        ``wanted`` is called when no other thread can send anything before these lines. The engine's
        output is not read. `EngineTimeout` at the deadline.
        """
        seconds = (deadline - monotonic_ns()) / 1e9
        if not self._writing.acquire(timeout=max(0.0, seconds)):
            raise EngineTimeout("does not read its input")
        try:
            if wanted():
                if self.trace is not None:
                    self.trace(">", data)
                self._write(data, deadline, False)
        finally:
            self._writing.release()

    def receive(self, milliseconds: int) -> bytes | None:
        """Return the whole lines that arrive in ``milliseconds``, joined; None if nothing arrives.

        Lines that were put back are returned first. The result is b'' if only a part of a line
        arrived. `EngineTerminated` at the end of the output.
        """
        if self._lines:
            lines = b"\n".join(self._lines) + b"\n"
            self._lines.clear()
            return lines
        chunk = self._read(milliseconds)
        return None if chunk is None else self._accept(chunk)

    def exchange(
        self, data: bytes, deadline: int, timeout: int, clear: Callable[[], None]
    ) -> bytes | None:
        """Call `send`, then `receive` for ``timeout`` nanoseconds; a timeout <= 0 does not wait.

        ``clear`` is called first if there may be earlier output to receive. A usual exchange is one
        compiled call, which is faster.
        """
        usual = not (self.trace is not None or self.tail or self._cut or self._lines
                     or self._backlog)
        if usual and self._input >= 0 and len(data) <= _ATOMIC_WRITE:
            try:
                chunk = round_trip(
                    self._writing, self._input, data, self._output, self._sentinel, self._errors,
                    self._longest_wait, timeout,
                )
            except OSError:  # Nothing was written: the input is full, or output has arrived.
                pass
            else:
                if chunk is None:
                    return None
                if chunk[-1:] != b"\n":
                    return self._accept(chunk)
                self.arrived = monotonic_ns()
                return chunk
        if not self.is_quiet():
            clear()
        self.send(data, deadline)
        return self.receive(timeout // MILLISECOND + 1 if timeout > 0 else 0)

    def _accept(self, chunk: bytes) -> bytes:
        """Count and trace what was read, and return the lines that ``chunk`` completes.

        The end of output, b'', completes ``tail``; if that is empty, `EngineTerminated`.
        """
        self.arrived = monotonic_ns()
        self.received += len(chunk)
        lines = self._whole_lines(chunk)
        if self.trace is not None and lines:
            self.trace("<", lines)
        if not chunk and not lines:
            raise EngineTerminated(self.process.describe_end())
        return lines

    def _whole_lines(self, chunk: bytes) -> bytes:
        """Return the lines that ``chunk`` completes; cut ``tail`` at `LONGEST_LINE`."""
        if not chunk:
            data, self.tail = self.tail, b""
            return data + b"\n" if data else b""
        if self._cut:
            end = chunk.find(b"\n")
            if end < 0:
                return b""
            chunk, self._cut = chunk[end + 1 :], False
        end = chunk.rfind(b"\n") + 1
        if end:
            data, self.tail = self.tail + chunk[:end], chunk[end:]
            return data
        self.tail += chunk
        if len(self.tail) < LONGEST_LINE:
            return b""
        data, self.tail, self._cut = self.tail[:LONGEST_LINE] + b"\n", b"", True
        return data

    def is_quiet(self) -> bool:
        """Return whether nothing can be received now; False if that is unknown."""
        return not (self._lines or self._backlog or self._poll.poll(0))

    def put_back(self, lines: bytes) -> None:
        """Put whole lines back, so that they are received again."""
        self._lines.extend(lines.split(b"\n")[:-1])

    def end_line(self) -> bytes:
        """Return ``tail`` as a whole line, although its line feed has not arrived."""
        lines = self._whole_lines(b"")
        if lines and self.trace is not None:
            self.trace("<", lines)
        return lines

    def read_line(self, deadline: int) -> bytes | None:
        """Return the next line without surrounding white space, or None at the deadline."""
        line = self.read_raw_line(deadline)
        return None if line is None else line.strip()

    def read_raw_line(self, deadline: int) -> bytes | None:
        """Return the next line without its line feed, or None at the deadline.

        Up to about `WIDE_PIPE` bytes that are in the pipe at the deadline are still read, because
        engines that start in parallel are read one after another.
        """
        while not self._lines:
            remaining = deadline - monotonic_ns()
            if remaining >= 0:
                self._overtime = 0
            elif self._overtime >= WIDE_PIPE:
                return None
            lines = self.receive(max(0, remaining // MILLISECOND + 1))
            if lines is not None:
                self._overtime += len(lines) if remaining < 0 else 0
                self.put_back(lines)
            elif remaining < 0:
                return None
        return self._lines.popleft()

    def _read(self, milliseconds: int) -> bytes | None:
        """Return bytes that arrive in ``milliseconds``, b'' at the end of output, or None."""
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
        """Write all of ``data``; `EngineTimeout` at the deadline.

        With ``reading``, output that arrives meanwhile is read and kept, because two full pipes
        would make both sides wait for each other.
        """
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
