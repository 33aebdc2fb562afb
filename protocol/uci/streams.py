"""The standard streams of an engine, and the log of what it reads and writes."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import stat
import sys
import threading
from typing import Literal, NoReturn, TextIO

from merels.engine.common.errors import InputError, shortage, shorten

_BROKEN_PIPE = (errno.EPIPE, errno.EINVAL)
"""Errors on writing to a pipe without a reader, on POSIX systems and on Windows."""

_LOG_FAILED = b"info string error the Debug Log File cannot be written; the log ends here\n"


class Output:
    """Writes whole lines to a file descriptor, without a buffer; any thread may write.

    A buffer would be flushed when the interpreter exits, and could then fail.
    """

    def __init__(self, descriptor: int) -> None:
        self._log: _Log | None = None
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def open_log(self, path: str) -> None:
        """Append all lines from now on to the file ``path``; '' closes the log.

        `InputError` if the file cannot be written; the old log then stays open. No other thread may
        write meanwhile.
        """
        log = _Log(path) if path else None
        self.close_log()
        self._log = log

    def close_log(self) -> None:
        """Close the log, if there is one."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def log_input(self, line: str) -> None:
        """Log a line from the client, even while another thread waits in `write`."""
        if (log := self._log) is not None:  # `write` may set `_log` to None meanwhile.
            log.append(">", line)

    def write(self, *lines: str) -> None:
        """Write consecutive lines; end the process if the output cannot be written."""
        data = "".join(line + "\n" for line in lines).encode("utf-8", "replace")
        with self._lock:
            if self._log is not None:
                for line in lines:
                    self._log.append("<", line)
                if self._log.failed:
                    data = _LOG_FAILED + data
                    self.close_log()
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError as error:
                self._exit_after(error)

    def has_reader(self) -> bool:
        """Return whether the output still has a reader; True on a system without poll(2)."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self._descriptor, 0)
        return not poll.poll(0)

    def note(self, text: str) -> None:
        """Write an ``info string``."""
        self.write(f"info string {text}")

    def error(self, what: Exception | str) -> None:
        """Write an ``info string error``.

        An unexpected exception is reported as internal, and does not end the engine.
        """
        self.write(f"info string error {_describe(what)}")

    def fail(self, what: Exception | str) -> NoReturn:
        """Print a line to standard error and end the process with status 1.

        Any thread may call this. The process is ended directly, because the main thread may be
        blocked in a read that no other thread can end.
        """
        with contextlib.suppress(OSError):
            print(f"merels: {_describe(what)}", file=sys.stderr, flush=True)
        os._exit(1)

    def _exit_after(self, error: OSError) -> NoReturn:
        """End the process: with status 0 if the output's reader has gone, otherwise with 1."""
        if error.errno in _BROKEN_PIPE:
            os._exit(0)
        self.fail(f"cannot write to standard output: {error.strerror}")


def _describe(what: Exception | str) -> str:
    """Return the text of an error."""
    if isinstance(what, (str, InputError)):
        return str(what)
    internal = f"internal, {type(what).__name__}: {shorten(str(what), 200)}"
    return shortage(what) or internal


class _Log:
    """A file to which each line is appended with its time and direction.

    ``failed`` is set instead of raising an error, so that a full disk does not lose the game.
    """

    def __init__(self, path: str) -> None:
        refuse_pipe(path)
        try:
            self._file = open(path, "ab", 0)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(path, f"cannot write this file: {reason}") from None
        self.failed = False

    def append(self, direction: str, line: str) -> None:
        """Append a line in one call, because two threads write to the log."""
        # Imported here, because the import would slow down each start of an engine without a log.
        from datetime import datetime

        text = f"{datetime.now().isoformat(' ', 'milliseconds')} {direction} {line}\n"
        try:
            self._file.write(text.encode("utf-8", "replace"))
        except (OSError, ValueError):  # ValueError: another thread has just closed the file.
            self.failed = True

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()


def _open_nowhere(mode: Literal["r", "w"]) -> TextIO:
    """Open a stream that is empty or drops all output, for this process and its children."""
    stream = open(os.devnull, mode)
    os.set_inheritable(stream.fileno(), True)
    return stream


def repair_streams() -> None:
    """Reopen closed standard streams on the null device; make input and output usable.

    The system would give the descriptor of a closed stream to the next file that is opened. Another
    process that shares a stream may have made the stream non-blocking. Characters outside of a
    stream's encoding, such as a letter of a player's name, are replaced.
    """
    sys.stdin = sys.stdin or _open_nowhere("r")
    sys.stdout = sys.stdout or _open_nowhere("w")
    sys.stderr = sys.stderr or _open_nowhere("w")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        if os.name == "posix":
            try:
                os.set_blocking(stream.fileno(), True)
            except OSError:
                pass  # The stream has no descriptor, or its file has no blocking mode.


def refuse_pipe(path: str) -> None:
    """Raise `InputError` for a named pipe, because opening it would wait for a reader."""
    try:
        is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # The caller opens the file next, and reports the error.
    if is_pipe:
        raise InputError(
            path, "expected a file, found a pipe, on which merels would wait for a reader"
        )
