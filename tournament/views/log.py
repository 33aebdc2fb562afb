"""The log of a tournament: what happened when, and if wanted every line to and from the engines."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from collections.abc import Callable, Iterator

from merels.engine.common.saving import write_named
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.output import LOG_LEVELS, LogOptions
from merels.tournament.run.log_file import LogFile
from merels.tournament.run.view import View
from merels.tournament.statistics.terminations import BLAMELESS

GZIP = 16
"""Added to the window's bits, it has zlib write the format of gzip."""
CHUNK = 1 << 20
"""Bytes that are compressed at once."""


class LogView(View):
    """Logs games at level info, and notices and games that an engine forfeits at warn.

    A log that can no longer be written does not end the tournament; one notice reports it.
    """

    def __init__(self, options: LogOptions, notice: Callable[[str], None]) -> None:
        self._file: LogFile | None = LogFile(options.file, options.append)
        self._options = options
        self._notice = notice
        self._lowest = LOG_LEVELS.index(options.level)
        if options.compress and not options.append:
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.realpath(options.packed))

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
        self._close_file()
        if self._options.compress:
            self._compress()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _compress(self) -> None:
        """Move the log into the compressed file, behind what that holds.

        A kill leaves the log, or both files with the log in each: never less than before.
        """
        path, packed = self._options.file, self._options.packed
        try:
            write_named(packed, self._compressed())
            os.remove(os.path.realpath(path))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            problem = f"{packed} is damaged or no gzip file"
        except OSError as error:
            problem = f"cannot write {packed}: {error.strerror or error}"
        else:
            return
        self.incomplete = True
        self._notice(f"{problem}; {path} has the log")

    def _compressed(self) -> Iterator[bytes]:
        """The bytes of the compressed file, if it is whole, and behind them the log's.

        Of a damaged file no program reads what follows the damage.
        """
        with contextlib.suppress(FileNotFoundError), open(self._options.packed, "rb") as file:
            with gzip.open(file) as earlier:
                while earlier.read(CHUNK):
                    pass
            file.seek(0)
            while data := file.read(CHUNK):
                yield data
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | GZIP)
        with open(self._options.file, "rb") as file:
            while data := file.read(CHUNK):
                yield packer.compress(data)
        yield packer.flush()

    def _write(self, level: str, text: str) -> None:
        if self._file is None or LOG_LEVELS.index(level) < self._lowest:
            return
        try:
            self._file.write(level, text)
        except OSError as error:
            self.incomplete = True
            self._close_file()  # Workers may still write: it is compressed at the end.
            self._notice(
                f"cannot write {self._options.file}: {error.strerror or error}; "
                "going on without this log"
            )
