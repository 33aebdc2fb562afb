"""Lines to and from an engine, over its standard input and output."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic_ns

from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.process import EngineProcess, read_chunk
from merels.protocol.process.round_trip import round_trip
from merels.protocol.process.standard_error import WIDE_PIPE

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
    have been read so far, without the answers that `exchange` read as whole lines. ``tail`` is the
    beginning of a line whose line feed has not arrived. ``ended_in_line`` is True once the output
    has ended without the last line feed.
    Times and deadlines are in nanoseconds of `monotonic_ns`.

    One thread uses a pipe; other threads may call `interject` and `close_input` only.
    """

    def __init__(self, process: EngineProcess, trace: Trace | None = None) -> None:
        self.process = process
        self.trace = trace
        self.arrived = self.sent = self.received = 0
        self._writing = Lock()
        self._lines: deque[bytes] = deque()
        """Whole lines that were read, or put back, and not received yet."""
        self.tail = b""
        self.ended_in_line = False
        self._cut = False
        """Whether the rest of an overlong line is still to be dropped."""
        self._overtime = 0
        """Bytes of whole lines that `read_raw_line` has read after its deadline."""
        self._connect()

    def _connect(self) -> None:
        """Prepare to read and write."""
        self._input, self._output = self.process.stdin, self.process.stdout
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._poll = self.process.watch()
        has_sentinel = self.process.sentinel is not None
        self._longest_wait = LONGEST_WAIT if has_sentinel else _WAIT_WITHOUT_SENTINEL

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

    def exchange(self, data: bytes, timeout: int) -> bytes | None:
        """Send lines and `receive` for ``timeout`` nanoseconds, in one compiled call.

        `BlockingIOError` if nothing was sent: output of an earlier request has arrived, or the call
        is not possible here. A timeout <= 0 does not wait.
        """
        if (self.trace is not None or self.tail or self._cut or self._lines or self._input < 0
                or len(data) > _ATOMIC_WRITE):
            raise BlockingIOError
        try:
            process = self.process
            chunk = round_trip(
                self._writing, self._input, data, self._output,
                -1 if process.sentinel is None else process.sentinel, process.errors.descriptor,
                self._longest_wait, timeout,
            )
        except OSError:  # A full input, or one that is closed, which `send` reports.
            raise BlockingIOError from None
        if chunk is None or chunk[-1:] != b"\n":
            return None if chunk is None else self._accept(chunk)
        self.arrived = monotonic_ns()
        return chunk

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
        self.ended_in_line = not chunk
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

    def put_back(self, lines: bytes) -> None:
        """Put whole lines back, so that they are received next."""
        self._lines.extendleft(reversed(lines.split(b"\n")[:-1]))

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
        process = self.process
        if milliseconds > self._longest_wait:
            milliseconds = self._longest_wait
        ready = process.ready(self._poll, milliseconds)
        if self._output in ready:
            return read_chunk(self._output)
        # The process may have ended although a child holds the pipe open.
        if process.sentinel in ready or process.sentinel is None and milliseconds > 0:
            return None if process.exit_status() is None else b""
        return None

    def _write(self, data: bytes, deadline: int, reading: bool) -> None:
        """Write all of ``data``; `EngineTimeout` at the deadline.

        With ``reading``, output that arrives meanwhile is read, because two full pipes would make
        both sides wait for each other. Its lines are kept, up to `LARGEST_BACKLOG` bytes.
        """
        poll = None
        most = self.received + LARGEST_BACKLOG
        while True:
            try:
                data = data[os.write(self._input, data) :]
            except BlockingIOError:
                pass
            except OSError:
                # Waiting for the end drops output, which only the pipe's own thread may do.
                seconds = 0.5 if reading else 0.0
                raise EngineTerminated(self.process.describe_end(seconds, "input")) from None
            if not data:
                return
            remaining = deadline - monotonic_ns()
            if remaining < 0:
                raise EngineTimeout("does not read its input")
            if poll is None:
                poll = self.process.watch() if reading else select.poll()
                poll.register(self._input, select.POLLOUT)
            wait = min(remaining // MILLISECOND + 1, self._longest_wait)
            if self._output in self.process.ready(poll, wait):
                chunk = read_chunk(self._output)
                # The end of output ends the write, too: `_accept` raises the error.
                lines = b"" if chunk is None else self._accept(chunk)
                if self.received < most:
                    self._lines.extend(lines.split(b"\n")[:-1])
