"""The log file of a run, to which the runner and its workers append concurrently."""

from __future__ import annotations

import contextlib
import os

from merels.engine.common.errors import printable
from merels.engine.common.saving import open_to_append
from merels.protocol.common.files import system_error
from merels.tournament.play.game import utc_now


class LogFile:
    """A file that several processes append whole lines to."""

    def __init__(self, path: str, append: bool = True) -> None:
        try:
            self._file = open_to_append(path, truncate=not append)
        except OSError as error:
            raise system_error(path, "write", error) from None
        self.game: int | None = None
        """Number of the game whose traffic `trace` logs; None between games."""
        self._is_torn = False
        """Whether the last entry was written only in part, as on a full disk."""
        with contextlib.suppress(OSError):
            if os.path.isfile(path) and os.path.getsize(path):
                with open(path, "rb") as file:
                    file.seek(-1, os.SEEK_END)
                    if file.read() != b"\n":  # The last line of an earlier run is incomplete.
                        os.write(self._file, b"\n")

    def write(
        self, level: str, text: str, game: int | None = None, time: str | None = None
    ) -> None:
        """Append an entry with its time in UTC, by default now, and its game or this process.

        Raise `OSError` if the entry cannot be written in full, as on a full disk.
        """
        source = f"process {os.getpid()}" if game is None else f"game {game}"
        entry = f"{time or utc_now()} {level:<5} {source}: {printable(text)}\n".encode()
        if self._is_torn:
            entry = b"\n" + entry
        while entry:
            written = os.write(self._file, entry)
            self._is_torn = written < len(entry)
            entry = entry[written:]

    def trace(self, engine: str, direction: str, data: bytes) -> None:
        """Append the lines of ``data``, sent to or received from ``engine``.

        ``direction``: ``>`` for the engine's input, ``<`` for its output, ``!`` for its standard
        error. A line that cannot be written is dropped: a full disk must not end a game.
        """
        with contextlib.suppress(OSError):
            for line in data.decode(errors="replace").splitlines():
                self.write("trace", f"{engine} {direction} {line}", self.game)

    def close(self) -> None:
        os.close(self._file)
