"""Lines to and from an engine over its two pipes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic_ns

from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.standard_error import WIDE_PIPE

CHUNK = 1 << 16
LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept; the rest of a longer line is dropped unread."""
MILLISECOND = 1_000_000
LONGEST_WAIT = 1 << 30
"""Milliseconds: no system is asked to wait longer at once."""

Trace = Callable[[str, bytes], None]
"""Called with ``>`` (sent) or ``<`` (received) and one or more whole lines."""


class Pipe:
    """Both directions of an engine's pipes; how bytes move is left to `PollPipe` and `ThreadPipe`.

    ``arrived`` is when (`monotonic_ns`) something was last received, ``tail`` the line whose end
    has not arrived yet, ``received`` how many bytes `receive` has read so far. One thread uses a
    pipe; only `interject` and `close_input` are free for others. All deadlines are `monotonic_ns`.
    """

    def __init__(self, process: EngineProcess, trace: Trace | None = None) -> None:
        self.process = process
        self.trace = trace
        self.arrived = self.received = 0
        self._writing = Lock()
        self._lines: deque[bytes] = deque()
        self.tail = b""
        self._cut = False
        self._overtime = 0

    def _read(self, milliseconds: int) -> bytes | None:
        """Return the bytes that arrive in that time; b'' at the end of output, None on timeout."""
        raise NotImplementedError

    def _write(self, data: bytes, deadline: int, reading: bool) -> None:
        """Write everything, or raise `EngineTimeout` at the deadline.

        ``reading``: what the engine writes may be read meanwhile, or both sides might wait.
        """
        raise NotImplementedError

    def close_input(self, timeout: float = -1.0) -> None:
        """End the engine's input, after all that was sent; any thread may.

        It stays open if another thread has not sent its lines after ``timeout`` seconds (-1: wait).
        """
        if self._writing.acquire(timeout=timeout):
            try:
                self._close_input()
            finally:
                self._writing.release()

    def _close_input(self) -> None:
        self.process.close_input()

    def close(self) -> None:
        """Give up the pipe, once its process is closed: no descriptor is touched any more."""

    def send(self, data: bytes, deadline: int) -> None:
        """Send whole lines."""
        with self._writing:
            if self.trace is not None:
                self.trace(">", data)
            self._write(data, deadline, True)

    def interject(self, data: bytes, deadline: int, wanted: Callable[[], bool]) -> None:
        """Send whole lines from any thread, between the lines that the pipe's own thread sends.

        They are sent if ``wanted`` returns True once nothing else can be sent before them. What the
        engine writes is left to the pipe's own thread.
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
        """The whole lines that arrive in that time, in one piece; None if nothing arrives.

        The piece is empty where only a part of a line has arrived. Lines that were put back come
        first. `EngineTerminated` at the end of the output.
        """
        if self._lines:
            lines = b"\n".join(self._lines) + b"\n"
            self._lines.clear()
            return lines
        chunk = self._read(milliseconds)
        return None if chunk is None else self._take(chunk)

    def exchange(
        self, data: bytes, deadline: int, timeout: int, clear: Callable[[], None]
    ) -> bytes | None:
        """`send`, then `receive` for ``timeout`` nanoseconds, not at all if it is 0 or less.

        ``clear`` is called first if something may have arrived.
        """
        if not self.is_quiet():
            clear()
        self.send(data, deadline)
        return self.receive(timeout // MILLISECOND + 1 if timeout > 0 else 0)

    def _take(self, chunk: bytes) -> bytes:
        """The whole lines up to what has just been read; `EngineTerminated` if that is the end."""
        self.arrived = monotonic_ns()
        self.received += len(chunk)
        lines = self._whole_lines(chunk)
        if self.trace is not None and lines:
            self.trace("<", lines)
        if not chunk and not lines:
            raise EngineTerminated(self.process.describe_end())
        return lines

    def _whole_lines(self, chunk: bytes) -> bytes:
        """The whole lines up to this chunk, overlong ones cut; what is left waits in the tail."""
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
        """Whether there is surely nothing to receive now."""
        return False

    def put_back(self, lines: bytes) -> None:
        """Put whole lines back, to be received again."""
        self._lines.extend(lines.split(b"\n")[:-1])

    def end_line(self) -> bytes:
        """Take the line whose end has not arrived, ``tail``, as it is."""
        lines = self._whole_lines(b"")
        if lines and self.trace is not None:
            self.trace("<", lines)
        return lines

    def read_line(self, deadline: int) -> bytes | None:
        """The next line, without its end and outer spaces, or None at the deadline."""
        line = self.read_raw_line(deadline)
        return None if line is None else line.strip()

    def read_raw_line(self, deadline: int) -> bytes | None:
        """The next line without its line feed, or None at the deadline.

        What waits in the pipe by then is still read, since engines that start side by side are
        read one after another; one that never stops writing gets no more than a pipe holds.
        ``arrived`` is the time at which the line arrived.
        """
        while not self._lines:
            left = deadline - monotonic_ns()
            if left >= 0:
                self._overtime = 0
            elif self._overtime >= WIDE_PIPE:
                return None
            lines = self.receive(max(0, left // MILLISECOND + 1))
            if lines is not None:
                self._overtime += len(lines) if left < 0 else 0
                self.put_back(lines)
            elif left < 0:
                return None
        return self._lines.popleft()
