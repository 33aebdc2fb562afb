"""An engine's standard error: read while it runs; the last line is kept."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from merels.engine.common.errors import shorten
from merels.protocol.process.command import POSIX

WIDE_PIPE = 1 << 20
"""Bytes that a pipe from an engine may be made to hold."""
LONGEST_WORDS = 160
"""Characters of the last line that are reported."""
LONGEST_LINE = 1 << 16
"""Bytes of an unfinished line that are kept for a function."""
_KEPT = 1 << 12
_END_SECONDS = 0.2


class StandardError:
    """The pipe from an engine's standard error, which is read by whoever waits for the engine.

    So an engine that writes megabytes there is not blocked, and takes no memory. ``descriptor`` is
    what to poll before `drain`; -1 when there is nothing more to read, or where a thread reads it.
    All that is read is written to the descriptor ``copy``, unless that is -1, or passed to it line
    by line if it is a function.
    """

    def __init__(self, pipe: IO[bytes], copy: int | Callable[[bytes], object]) -> None:
        self.descriptor = pipe.fileno()
        if POSIX:
            os.set_blocking(self.descriptor, False)
        self._pipe = pipe
        self._copy = copy
        self._line = b""
        """The part of an unfinished line that was read, for a function."""
        self._end = b""
        self._thread: threading.Thread | None = None

    def drain(self) -> bool:
        """Take all that has arrived; False at the end of it."""
        if self.descriptor < 0:
            return False
        try:
            chunk = os.read(self.descriptor, WIDE_PIPE)
        except BlockingIOError:
            return True
        except OSError:
            chunk = b""
        if not chunk:
            self.descriptor = -1
        self._take(chunk)
        return bool(chunk)

    def read_in_thread(self) -> None:
        """Have a thread read from now on, on systems that cannot poll a pipe."""
        # Its own: it may still wait for more when this process has closed its end.
        own, self.descriptor = os.dup(self.descriptor), -1
        if POSIX:
            os.set_blocking(own, True)
        self._thread = threading.Thread(target=self._read_all, args=(own,), daemon=True)
        self._thread.start()

    def _read_all(self, descriptor: int) -> None:
        with suppress(OSError):
            while chunk := os.read(descriptor, WIDE_PIPE):
                self._take(chunk)
        os.close(descriptor)

    def _take(self, chunk: bytes) -> None:
        """Keep the end of the bytes read, and copy all of them while the buffer has space."""
        self._end = (self._end + chunk[-_KEPT:])[-_KEPT:]
        if callable(self._copy):
            lines, end, self._line = (self._line + chunk).rpartition(b"\n")
            if len(self._line) > LONGEST_LINE:
                lines, end, self._line = lines + end, self._line, b""
            if lines or end:
                self._copy(lines + end)
        elif self._copy >= 0:
            with suppress(OSError):
                os.write(self._copy, chunk)

    def last_line(self) -> str:
        """The last line written so far that is not empty, fit to print; empty if there is none."""
        self.drain()
        if self._thread is not None:
            self._thread.join(_END_SECONDS)
        lines = re.split(r"[\r\n]+", self._end.decode("utf-8", "replace").strip())
        return shorten(lines[-1].strip(), LONGEST_WORDS)

    def close(self) -> None:
        """Take what is left, and close the pipe and the copy."""
        self.drain()
        self.descriptor = -1
        self._pipe.close()
        copy, self._copy = self._copy, -1
        if callable(copy):
            if self._line:
                copy(self._line)
        elif copy >= 0:
            os.close(copy)
