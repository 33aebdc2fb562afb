"""Standard output: whole lines, under one lock, at once."""

from __future__ import annotations

import errno
import os
import sys
import threading

from merels.protocol.uci.debug_log import DebugLog

_NOBODY_READS = (errno.EPIPE, errno.EINVAL)
"""What writing to a closed pipe reports, on POSIX and on Windows."""

_NO_LOG = b"info string error the Debug Log File cannot be written; it ends here\n"


class Output:
    """Writes lines to a file descriptor, never torn and never late.

    There is no buffer between this and the descriptor, so nothing is left to be flushed (and to
    fail) when the interpreter exits.
    """

    def __init__(self, descriptor: int) -> None:
        self.log: DebugLog | None = None
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def write(self, *lines: str) -> None:
        """Writes some lines that stay together. Ends the process when nobody can read them."""
        data = "".join(line + "\n" for line in lines).encode("utf-8", "replace")
        with self._lock:
            if self.log is not None:
                for line in lines:
                    self.log.sent(line)
                if self.log.failed:
                    data = _NO_LOG + data
                    self.log.close()
                    self.log = None
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                self._leave(error)

    def note(self, text: str) -> None:
        """Writes an ``info string``."""
        self.write(f"info string {text}")

    def error(self, text: object) -> None:
        """Writes an ``info string error``."""
        self.write(f"info string error {text}")

    def _leave(self, error: OSError) -> None:
        """Ends the process from whichever thread this is.

        The main thread may be blocked reading standard input, and no other thread can wake it.
        """
        if error.errno in _NOBODY_READS:
            os._exit(0)
        print(f"merels: standard output cannot be written: {error.strerror}", file=sys.stderr)
        os._exit(1)
