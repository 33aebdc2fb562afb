"""The log of a tournament: what happened when, and if wanted every line to and from the engines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime, timezone

from merels.engine.game.errors import printable
from merels.tournament.commands.run_options import LOG_LEVELS, LogOptions
from merels.tournament.journal.journal import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.files import system_error
from merels.tournament.records.games import GameSpec
from merels.tournament.records.terminations import BLAMELESS
from merels.tournament.views.view import View


class LogFile:
    """A file that several processes append whole lines to."""

    def __init__(self, path: str, append: bool = True) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
        except OSError as error:
            raise system_error(path, "write", error) from None
        with contextlib.suppress(OSError):
            if _is_torn(path):
                os.write(self._file, b"\n")

    def write(self, level: str, text: str) -> None:
        """Add an entry; OSError (the disk is full) loses it."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        os.write(self._file, f"{now} {level:<5} {printable(text)}\n".encode())

    def trace(self, engine: str, way: str, data: bytes) -> None:
        """Add what was sent to an engine (``>``) or came from it (``<``), as far as possible."""
        with contextlib.suppress(OSError):
            for line in data.decode(errors="replace").splitlines():
                self.write("trace", f"{engine} {way} {line}")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _is_torn(path: str) -> bool:
    """Whether a file's last line has no end, as a full disk leaves it."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


class LogView(View):
    """Logs games as ``info``, those that an engine is at fault for and notices as ``warn``.

    A log that cannot be written any more does not end a tournament; that is said once.
    """

    def __init__(self, options: LogOptions, notice: Callable[[str], None]) -> None:
        self._file: LogFile | None = LogFile(options.file, options.append)
        self._path = options.file
        self._notice = notice
        self._lowest = LOG_LEVELS.index(options.level)

    def started(self, spec: GameSpec) -> None:
        """A game began."""
        self._write("info", f"game {spec.number}: {spec.white.name} vs {spec.black.name} started")

    def finished(self, row: Row, standings: Standings) -> None:
        """A game ended."""
        self._write(
            "info" if row.termination in BLAMELESS else "warn",
            f"game {row.number}: {row.white} vs {row.black} {row.result} {row.termination} "
            f"({row.reason})",
        )

    def notice(self, text: str) -> None:
        """Something happened."""
        self._write("warn", text)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, level: str, text: str) -> None:
        if self._file is None or LOG_LEVELS.index(level) < self._lowest:
            return
        try:
            self._file.write(level, text)
        except OSError as error:
            self.close()
            self._notice(
                f"cannot write {self._path}: {error.strerror or error}; going on without this log"
            )
