"""The log file, which the runner and its workers append to side by side."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime, timezone

from merels.engine.common.errors import printable
from merels.engine.common.files import system_error
from merels.engine.common.saving import lock


class LogFile:
    """A file that several processes append whole lines to."""

    def __init__(self, path: str, append: bool = True) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
        except OSError as error:
            raise system_error(path, "write", error) from None
        self._is_torn = False
        """Whether a full disk has cut the last entry off."""
        with contextlib.suppress(OSError):
            if os.path.isfile(path) and os.path.getsize(path):
                with open(path, "rb") as file:
                    file.seek(-1, os.SEEK_END)
                    if file.read() != b"\n":  # A full disk has cut its last line off.
                        os.write(self._file, b"\n")

    def reserve(self) -> bool:
        """Keep others from `saving.lock` until it is closed; whether it still has its name.

        `BlockingIOError` if another process has locked it.
        """
        try:
            lock(self._file, shared=True)
        except BlockingIOError:
            raise
        except OSError:
            return True  # A pipe, or a file system without locks.
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def write(self, level: str, text: str) -> None:
        """Add an entry; OSError (the disk is full) loses it."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        rest = f"{now} {level:<5} {printable(text)}\n".encode()
        if self._is_torn:
            rest = b"\n" + rest
        while rest:
            written = os.write(self._file, rest)
            self._is_torn = written < len(rest)
            rest = rest[written:]

    def trace(self, engine: str, way: str, data: bytes) -> None:
        """Add lines to an engine (``>``), of its output (``<``) or of its standard error (``!``).

        A line that cannot be written is lost.
        """
        with contextlib.suppress(OSError):
            for line in data.decode(errors="replace").splitlines():
                self.write("trace", f"{engine} {way} {line}")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
