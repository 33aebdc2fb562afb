"""The standard streams: made usable, and an output of whole lines, with a log of them."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import stat
import sys
import threading
from typing import NoReturn

from merels.engine.common.errors import InputError, shorten

_NOBODY_READS = (errno.EPIPE, errno.EINVAL)
"""The errors of writing to a closed pipe, on POSIX and on Windows."""

_NO_LOG = b"info string error the Debug Log File cannot be written; it ends here\n"


class Output:
    """Writes lines to a file descriptor, whole and at once, from any thread.

    There is no buffer between this and the descriptor, so nothing is left to be flushed (and to
    fail) when the interpreter exits.
    """

    def __init__(self, descriptor: int) -> None:
        self._log: _Log | None = None
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def open_log(self, path: str) -> None:
        """Append the conversation to a file from now on; to none if ``path`` is empty."""
        log = _Log(path) if path else None
        self.close_log()
        self._log = log

    def close_log(self) -> None:
        """End the log, if there is one."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def received(self, line: str) -> None:
        """Log a line from the client; never waits for a client that does not read."""
        if (log := self._log) is not None:  # The worker may end it meanwhile.
            log.append(">", line)

    def write(self, *lines: str) -> None:
        """Write lines that stay together. End the process if their reader has gone."""
        data = "".join(line + "\n" for line in lines).encode("utf-8", "replace")
        with self._lock:
            if self._log is not None:
                for line in lines:
                    self._log.append("<", line)
                if self._log.failed:
                    data = _NO_LOG + data
                    self.close_log()
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                self._leave(error)

    def is_read(self) -> bool:
        """Whether somebody may read what is written, as far as the system can tell."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return not poll.poll(0)

    def note(self, text: str) -> None:
        """Write an ``info string``."""
        self.write(f"info string {text}")

    def error(self, what: Exception | str) -> None:
        """Write an ``info string error``. An unexpected exception is called internal: it is a
        defect, which must not cost the game."""
        self.write(f"info string error {_described(what)}")

    def fail(self, what: Exception | str) -> NoReturn:
        """End the process with status 1, from any thread, and a line on standard error.

        The main thread may be blocked reading standard input, and no other thread can wake it.
        """
        with contextlib.suppress(OSError):
            print(f"merels: {_described(what)}", file=sys.stderr, flush=True)
        os._exit(1)

    def _leave(self, error: OSError) -> NoReturn:
        """End the process: standard output cannot be written."""
        if error.errno in _NOBODY_READS:
            os._exit(0)
        self.fail(f"standard output cannot be written: {error.strerror}")


def _described(what: Exception | str) -> str:
    """Return the error on one line."""
    if isinstance(what, (str, InputError)):
        return str(what)
    if isinstance(what, MemoryError):
        return str(what) or "not enough memory"
    return f"internal, {type(what).__name__}: {shorten(str(what), 200)}"


class _Log:
    """A file to which each line of the conversation is appended, with the time it passed.

    ``failed`` is True once it cannot be written (a full disk), which must not cost the game.
    """

    def __init__(self, path: str) -> None:
        refuse_pipe(path)
        try:
            self._file = open(path, "ab", 0)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(path, f"expected a file that can be written ({reason})") from None
        self.failed = False

    def append(self, direction: str, line: str) -> None:
        """Append a line in one call: two threads write here."""
        from datetime import datetime  # Few runs ask for a log, and every start would pay.

        text = f"{datetime.now().isoformat(' ', 'milliseconds')} {direction} {line}\n"
        try:
            self._file.write(text.encode("utf-8", "replace"))
        except (OSError, ValueError):  # ValueError: the other thread has just closed it.
            self.failed = True

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()


def make_usable() -> None:
    """Open the streams that were closed, and let input and output block and take any text.

    A closed stream's descriptor would go to the next file that is opened. Whoever shares a pipe
    may have made it non-blocking, and a terminal's encoding may lack a letter of a foreign name.
    """
    sys.stdin = sys.stdin or open(os.devnull)
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        if os.name == "posix":
            try:
                os.set_blocking(stream.fileno(), True)
            except OSError:
                pass  # It has no descriptor, or no such mode.


def refuse_pipe(path: str) -> None:
    """Raise an `InputError` for a named pipe: opening one to write waits for its reader."""
    try:
        found = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # Opening it reports the error.
    if found:
        raise InputError(path, "expected a file; this is a pipe, which would wait for a reader")
