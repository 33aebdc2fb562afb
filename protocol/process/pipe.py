"""Lines to and from an engine over its two pipes, with one deadline for everything.

`Pipe.ask` is the hot path of tournaments: one write of ``position`` and ``go``, one wait for
``bestmove``, everything between them looked at only once the answer is there.
"""

from __future__ import annotations

import os
import re
import select
from collections import deque
from collections.abc import Callable
from time import monotonic_ns
from typing import NamedTuple

from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.process import POSIX, WIDE_PIPE, EngineProcess

CHUNK = 1 << 16
LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept; the rest of a longer line is dropped unread."""
LARGEST_BACKLOG = 1 << 22
"""Bytes that are kept for later while the engine does not read what it is sent."""
STOP_SECONDS = 1.0
"""What an engine has to answer ``stop``."""
MILLISECOND = 1_000_000
_FOREVER = 1 << 60
LONGEST_WAIT = 1 << 30
"""Milliseconds: more than any system is asked to wait at once."""
_WAIT_WITHOUT_SENTINEL = 200

_BESTMOVE = re.compile(rb"^[ \t\r]*bestmove(?![^\s])([^\n]*)\n", re.IGNORECASE | re.MULTILINE)
_BESTMOVE_INSIDE = re.compile(rb"(?<![^\s])bestmove(?![^\s])([^\n]*)\n", re.IGNORECASE)

Trace = Callable[[str, bytes], None]
"""Called with ``>`` (sent) or ``<`` (received) and the bytes, which may hold several lines."""


class Answer(NamedTuple):
    """An engine's answer to ``go``."""

    text: bytes
    """What stood behind ``bestmove``."""
    info: bytes
    """The last line with a score before it, or nothing."""
    elapsed: int
    """Nanoseconds from sending ``go`` to reading the answer."""


class Pipe:
    """Both directions of an engine's pipes; how bytes move is left to the two kinds below.

    ``inside`` looks for ``bestmove`` anywhere in a line, not only at its start. ``owing`` is set
    while an answer is to come that nobody waits for any more, and ``untidy`` once one has come that
    nobody had asked for. ``silence`` is how long, in nanoseconds, an engine may think without a
    word before it is asked for a sign of life.
    """

    def __init__(
        self, process: EngineProcess, *, inside: bool = False, trace: Trace | None = None
    ) -> None:
        self.process = process
        self.owing = False
        self.untidy = False
        self.silence = _FOREVER
        self.trace = trace
        self._inside = inside
        self._pattern = _BESTMOVE_INSIDE if inside else _BESTMOVE
        self._lines: deque[bytes] = deque()
        self._tail = b""
        self._cut = False
        self._info = b""
        self._overtime = 0
        self._arrived = 0

    def _receive(self, milliseconds: int) -> bytes | None:
        """What arrived, waiting so long for it; nothing at the end, None when nothing came."""
        raise NotImplementedError

    def _write(self, data: bytes, deadline: int) -> None:
        """Write everything, or raise `EngineTimeout` at the deadline (`monotonic_ns`)."""
        raise NotImplementedError

    def close_input(self) -> None:
        """End the engine's input, after all that was sent."""
        self.process.close_input()

    def close(self) -> None:
        """Give up the pipe, once its process is closed: no descriptor is touched any more."""

    def send(self, data: bytes, seconds: float = 5.0) -> None:
        """Send whole lines."""
        if self.trace is not None:
            self.trace(">", data)
        self._write(data, monotonic_ns() + int(seconds * 1e9))

    def begin(self, request: bytes, seconds: float = 5.0) -> int:
        """Send a request whose answer is waited for later; when that was: see `wait_answer`.

        Whatever the engine sent before belongs to an earlier request and is dropped.
        """
        self.drop()
        self._info = b""
        start = monotonic_ns()
        self.send(request, seconds)
        return start

    def ask(self, request: bytes, timeout: int) -> Answer | None:
        """Send ``request``, which ends in a ``go``, and wait ``timeout`` nanoseconds at most.

        None means that the engine still owes its answer.
        """
        try:
            start = self.begin(request, timeout / 1e9)
        except EngineTimeout:
            return None
        return self.wait_answer(start, timeout)

    def stop(self, seconds: float = STOP_SECONDS) -> Answer | None:
        """Stop a search and wait so long for its answer; None if the engine still owes it."""
        start = monotonic_ns()
        self.send(b"stop\n", seconds)
        answer = self.wait_answer(start, int(seconds * 1e9))
        self.owing = answer is None
        return answer

    def settle(self, seconds: float) -> bool:
        """Wait so long for an answer that is owed, and forget it; False if it does not come."""
        if self.owing:
            self.owing = self.wait_answer(monotonic_ns(), int(seconds * 1e9)) is None
        return not self.owing

    def wait_answer(self, start: int, timeout: int) -> Answer | None:
        """Wait for the ``bestmove`` of a request sent at ``start``, until ``timeout`` after it."""
        if self._lines:
            text = self._search(b"\n".join(self._take_lines()) + b"\n")
            if text is not None:
                return Answer(text, self._info, monotonic_ns() - start)
        heard, now = start, monotonic_ns()
        probed = False
        while True:
            left = timeout - (now - start)
            if left < 0:
                return self.unended_answer(start)
            chunk = self._receive(min(left, self.silence) // MILLISECOND + 1)
            now = monotonic_ns()
            if chunk is None:
                if now - heard > self.silence:
                    if probed:
                        seconds = 2 * self.silence / 1e9
                        raise EngineTimeout(f"gives no sign of life for {seconds:g} s")
                    if (answer := self.unended_answer(start)) is not None:
                        return answer
                    self.send(b"isready\n")
                    probed, heard = True, now
                continue
            probed, heard = False, now
            if self.trace is not None:
                self.trace("<", chunk)
            text = self._find_answer(chunk)
            if text is not None:
                return Answer(text, self._info, now - start)
            if not chunk:
                self._fail()

    def unended_answer(self, start: int) -> Answer | None:
        """An answer whose line has not ended, taken as it is; None without one.

        It was given when it arrived, not when the wait for its end was over.
        """
        line = self._tail + b"\n"
        match = self._pattern.search(line)
        if match is None or not match[1].strip():
            return None
        self._tail = b""
        self._note_score(line, match.end() if self._inside else match.start())
        return Answer(match[1].strip(), self._info, max(0, self._arrived - start))

    def _take_lines(self) -> list[bytes]:
        """The whole lines that were read and not used yet."""
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def _find_answer(self, chunk: bytes) -> bytes | None:
        """What stands behind the first ``bestmove`` up to this chunk, or None.

        What came before it is forgotten but for the last score, what comes after it is kept.
        """
        if not self._tail and not self._cut:
            # The usual case, done with a few searches: the answer is the last line of a chunk.
            start = chunk.find(b"bestmove ")
            if start >= 0 and chunk.find(b"\n", start) == len(chunk) - 1:
                if self._inside or start == 0 or chunk[start - 1] == 10:
                    self._note_score(chunk, len(chunk) if self._inside else start)
                    return chunk[start + 9 : -1].strip()
        return self._search(self._whole_lines(chunk))

    def _search(self, data: bytes) -> bytes | None:
        """What `_find_answer` gives, in whole lines."""
        match = self._pattern.search(data)
        if match is None:
            self._note_score(data, len(data))
            return None
        self._note_score(data, match.end() if self._inside else match.start())
        self._lines.extend(data[match.end() :].split(b"\n")[:-1])
        return match[1].strip()

    def _whole_lines(self, chunk: bytes) -> bytes:
        """The whole lines up to this chunk, overlong ones cut; what is left waits in the tail."""
        self._arrived = monotonic_ns()
        if not chunk:
            data, self._tail = self._tail, b""
            return data + b"\n" if data else b""
        if self._cut:
            end = chunk.find(b"\n")
            if end < 0:
                return b""
            chunk, self._cut = chunk[end + 1 :], False
        end = chunk.rfind(b"\n") + 1
        if end:
            data, self._tail = self._tail + chunk[:end], chunk[end:]
            return data
        self._tail += chunk
        if len(self._tail) < LONGEST_LINE:
            return b""
        data, self._tail, self._cut = self._tail[:LONGEST_LINE] + b"\n", b"", True
        return data

    def _note_score(self, data: bytes, end: int) -> None:
        """Keep the last line before ``end`` that has a score, of several variations the best one's.

        An ``info string`` has none: it is in the engine's own words.
        """
        while True:
            at = data.rfind(b" score ", 0, end)
            if at < 0:
                return
            start = data.rfind(b"\n", 0, at) + 1
            line = data[start : data.find(b"\n", at)]
            place = line.find(b" multipv ")
            best = place < 0 or line[place + 9 :].split(None, 1)[:1] == [b"1"]
            if best and line[:11] != b"info string":
                self._info = line
                return
            end = start

    def drop(self) -> None:
        """Drop everything that has arrived unasked, and take note of a ``bestmove`` among it."""
        if self._lines:
            self._note_strays(b"\n".join(self._take_lines()) + b"\n")
        for _ in range(LARGEST_BACKLOG // CHUNK):
            chunk = self._receive(0)
            if chunk is None:
                break
            if self.trace is not None:
                self.trace("<", chunk)
            self._note_strays(self._whole_lines(chunk))
            if not chunk:
                self._fail()

    def _note_strays(self, data: bytes) -> None:
        for _ in self._pattern.finditer(data):
            if self.owing:
                self.owing = False
            else:
                self.untidy = True

    def is_answer(self, line: bytes) -> bool:
        """Whether a line, without its end, says ``bestmove``."""
        return self._pattern.search(line + b"\n") is not None

    def read_line(self, deadline: int) -> bytes | None:
        """The next line, without its end and outer blanks, or None at the deadline.

        What waits in the pipe by then is still read, for engines that start side by side are
        heard one after another; one that never stops writing gets no more than a pipe holds.
        """
        while not self._lines:
            left = deadline - monotonic_ns()
            if left >= 0:
                self._overtime = 0
            elif self._overtime >= WIDE_PIPE:
                return None
            chunk = self._receive(max(0, left // MILLISECOND + 1))
            if chunk is None:
                if left < 0:
                    return None
                continue
            if left < 0:
                self._overtime += len(chunk)
            if self.trace is not None:
                self.trace("<", chunk)
            self._lines.extend(self._whole_lines(chunk).split(b"\n")[:-1])
            if not chunk and not self._lines:
                self._fail()
        return self._lines.popleft().strip()

    def _fail(self) -> None:
        """Say how the engine ended, now that nothing more can come from it."""
        raise EngineTerminated(self.process.describe_end())


class PollPipe(Pipe):
    """Raw descriptors and `select.poll`: about 3 microseconds of CPU a round trip."""

    def __init__(
        self, process: EngineProcess, *, inside: bool = False, trace: Trace | None = None
    ) -> None:
        super().__init__(process, inside=inside, trace=trace)
        self._input = process.stdin
        self._output = process.stdout
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._longest_wait = _WAIT_WITHOUT_SENTINEL
        if process.sentinel is not None:
            self._poll.register(process.sentinel, select.POLLIN)
            self._longest_wait = LONGEST_WAIT
        self._backlog = b""

    def close(self) -> None:
        # The numbers of closed descriptors soon mean other files.
        self._input = self._output = -1
        self._poll = select.poll()

    def ask(self, request: bytes, timeout: int) -> Answer | None:
        """`Pipe.ask`, with the usual course of things done here in as few steps as it takes."""
        poll = self._poll.poll
        if self._lines or self._tail or self._cut or self.trace is not None or poll(0):
            return super().ask(request, timeout)
        self._info = b""
        start = monotonic_ns()
        try:
            self._write(request, start + timeout)
        except EngineTimeout:
            return None
        if 0 <= timeout < self.silence and not self._backlog:
            if poll(min(timeout // MILLISECOND + 1, self._longest_wait)):
                try:
                    chunk = os.read(self._output, CHUNK)
                except OSError:
                    chunk = b""
                now = monotonic_ns()
                text = self._find_answer(chunk)
                if text is not None:
                    return Answer(text, self._info, now - start)
                if not chunk:
                    self._fail()
        return self.wait_answer(start, timeout)

    def _receive(self, milliseconds: int) -> bytes | None:
        if self._backlog:
            data, self._backlog = self._backlog, b""
            return data
        if milliseconds > self._longest_wait:
            milliseconds = self._longest_wait
        if not self._poll.poll(milliseconds):
            if self.process.sentinel is None and milliseconds:
                return b"" if self.process.exit_status() is not None else None
            return None
        try:
            return os.read(self._output, CHUNK)
        except BlockingIOError:
            return b""  # The process itself has ended; a child of it holds the pipe open.
        except OSError:
            return b""

    def _write(self, data: bytes, deadline: int) -> None:
        try:
            written = os.write(self._input, data)
        except BlockingIOError:
            written = 0
        except OSError:
            raise EngineTerminated(self._end_of_input()) from None
        if written < len(data):
            self._write_rest(data[written:], deadline)

    def _write_rest(self, data: bytes, deadline: int) -> None:
        """Write what the full pipe did not take, reading meanwhile lest both sides wait."""
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        poll.register(self._output, select.POLLIN)
        while data:
            left = deadline - monotonic_ns()
            if left < 0:
                raise EngineTimeout("does not read its input")
            for descriptor, event in poll.poll(min(left // MILLISECOND + 1, self._longest_wait)):
                if descriptor == self._output:
                    chunk = self._read_ahead()
                    if not chunk:
                        poll.unregister(self._output)
                    continue
                try:
                    data = data[os.write(self._input, data) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise EngineTerminated(self._end_of_input()) from None

    def _read_ahead(self) -> bytes:
        """Put by what the engine writes; beyond the backlog's bound it is dropped."""
        try:
            chunk = os.read(self._output, CHUNK)
        except OSError:
            return b""
        if len(self._backlog) < LARGEST_BACKLOG:
            self._backlog += chunk
        return chunk

    def _end_of_input(self) -> str:
        end = self.process.describe_end()
        return "closed its input" if end == "closed its output" else end


def open_pipe(
    process: EngineProcess, *, inside: bool = False, trace: Trace | None = None
) -> Pipe:
    """The fastest pipe that the system has."""
    if POSIX:
        return PollPipe(process, inside=inside, trace=trace)
    from merels.protocol.process.thread_pipe import ThreadPipe

    return ThreadPipe(process, inside=inside, trace=trace)
