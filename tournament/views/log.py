"""The log of a tournament: what happened when, and if wanted every line to and from the engines."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Callable

from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.output import LOG_LEVELS, LogOptions
from merels.tournament.run.log_file import LogFile
from merels.tournament.run.view import View
from merels.tournament.statistics.terminations import BLAMELESS


class LogView(View):
    """Logs games at level info, and notices and games that an engine forfeits at warn.

    A log that can no longer be written does not end the tournament; one notice reports it.
    """

    def __init__(self, options: LogOptions, notice: Callable[[str], None]) -> None:
        if options.compress and not options.append:
            with contextlib.suppress(FileNotFoundError):
                os.remove(options.file + ".gz")
        self._file: LogFile | None = LogFile(options.file, options.append)
        self._path = options.file
        self._notice = notice
        self._compress = options.compress
        self._lowest = LOG_LEVELS.index(options.level)

    def started(self, spec: GameSpec) -> None:
        self._write("info", f"game {spec.number}: {spec.white.name} vs {spec.black.name} started")

    def finished(self, row: Row, standings: Standings) -> None:
        self._write(
            "info" if row.termination in BLAMELESS else "warn",
            f"game {row.number}: {row.white} vs {row.black} {row.result} {row.termination} "
            f"({row.reason})",
        )

    def notice(self, text: str) -> None:
        self._write("warn", text)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            if self._compress:
                self._pack()

    def _pack(self) -> None:
        """Move the log into a compressed file, behind what that holds."""
        packed = self._path + ".gz"
        try:
            with open(self._path, "rb") as file, gzip.open(packed, "ab") as target:
                shutil.copyfileobj(file, target)
            os.remove(self._path)
        except OSError as error:
            self.incomplete = True
            self._notice(
                f"cannot write {packed}: {error.strerror or error}; {self._path} has the whole log"
            )

    def _write(self, level: str, text: str) -> None:
        if self._file is None or LOG_LEVELS.index(level) < self._lowest:
            return
        try:
            self._file.write(level, text)
        except OSError as error:
            self.incomplete = True
            self.close()
            self._notice(
                f"cannot write {self._path}: {error.strerror or error}; going on without this log"
            )
