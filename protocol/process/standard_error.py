"""An engine's standard error."""

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
"""Capacity of an enlarged pipe from an engine, in bytes."""
LONGEST_QUOTE = 160
"""Maximum length of the last line in messages, in characters."""
LONGEST_LINE = 1 << 16
"""Bytes after which an unfinished line is passed to the function ``copy``."""
_KEPT_BYTES = 1 << 12
"""Bytes of the end of standard error that are kept for `StandardError.last_line`."""
_NO_CAUSE = re.compile(r"\s|note: |Node\.js v\d")
"""Beginning of a line that states no cause of an engine's end."""
_END_SECONDS = 0.2
"""Time for a reading thread to reach the end of standard error, in seconds."""


class StandardError:
    """The pipe from an engine's standard error.

    The thread that waits for the engine's output also calls `drain`, so that a full pipe does not
    block the engine. Only the end is kept. Everything read is also written to the descriptor
    ``copy`` (-1: none), or passed to the function ``copy`` in whole lines.

    ``descriptor`` can be polled before `drain`; it is -1 at the end of the pipe, and while a
    `reader` reads.
    """

    def __init__(self, pipe: IO[bytes], copy: int | Callable[[bytes], object]) -> None:
        self.descriptor = pipe.fileno()
        if POSIX:
            os.set_blocking(self.descriptor, False)
        self._pipe = pipe
        self._copy = copy
        self._line = b""
        """The beginning of an unfinished line, for the function ``copy``."""
        self._end = b""
        self.reader: threading.Thread | None = None
        """The thread that reads standard error on Windows."""

    def drain(self) -> bool:
        """Read what has arrived; return False at the end of standard error."""
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
        self.store(chunk)
        return bool(chunk)

    def store(self, chunk: bytes) -> None:
        """Append ``chunk`` to the end that is kept, and copy it."""
        self._end = (self._end + chunk[-_KEPT_BYTES:])[-_KEPT_BYTES:]
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
        """Return the last line that states a cause, shortened and printable; '' if there is none.

        Stack frames, which are indented, and the closing lines of Node.js and Rust state none.
        They are returned if there is no other line.
        """
        self.drain()
        if self.reader is not None:
            self.reader.join(_END_SECONDS)
        text = self._end.decode("utf-8", "replace").rstrip()
        lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()] or [""]
        if len(self._end) == _KEPT_BYTES and len(lines) > 1:
            del lines[0]  # The beginning of this line is not kept.
        causes = [line for line in lines if not _NO_CAUSE.match(line)]
        return shorten((causes or lines)[-1].strip(), LONGEST_QUOTE)

    def close(self) -> None:
        """Read what is left, and close the pipe and the copy."""
        self.drain()
        self.descriptor = -1
        self._pipe.close()
        copy, self._copy = self._copy, -1
        if callable(copy):
            if self._line:
                copy(self._line)
        elif copy >= 0:
            os.close(copy)
