"""Log of a tournament: starts and ends of games and notices, with their times."""

from __future__ import annotations

import contextlib
import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from merels.engine.common.files import file_error
from merels.engine.common.saving import lock, write_named
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import GameSpec
from merels.tournament.records.output import LOG_LEVELS, LogOptions
from merels.tournament.run.log_file import LogFile
from merels.tournament.run.view import View
from merels.tournament.statistics.terminations import BLAMELESS

GZIP = 16
"""Flag for ``wbits`` that makes zlib write the gzip format."""
CHUNK = 1 << 20
"""Bytes read at a time."""


class LogView(View):
    """Logs games at level ``info``; notices, and ends outside `BLAMELESS`, at level ``warn``.

    If the log cannot be written, one notice reports this and the tournament continues.
    """

    def __init__(self, options: LogOptions, notice: Callable[[str], None]) -> None:
        self._options = options
        self._file = self._open()
        self._notice = notice
        self._lowest = LOG_LEVELS.index(options.level)
        if options.compress and not options.append:
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.realpath(options.packed))

    def game_started(self, spec: GameSpec, time: str) -> None:
        self._write("info", f"{spec.white.name} vs {spec.black.name} started", spec.number, time)

    def game_ended(self, row: Row, time: str) -> None:
        self._write(
            "info" if row.termination in BLAMELESS else "warn",
            f"{row.white} vs {row.black} {row.result} {row.termination} ({row.reason})",
            row.number, time,
        )

    def notice(self, text: str) -> None:
        self._write("warn", text)

    def close(self) -> None:
        self._lowest = len(LOG_LEVELS)
        self._file.close()
        if self._options.compress:
            self._compress()

    def _open(self) -> LogFile:
        """Open the log with a shared lock, so that no other run compresses it meanwhile."""
        path = self._options.file
        while True:
            file = LogFile(path, self._options.append)
            try:
                if file.reserve():
                    return file
            except BlockingIOError:
                file.close()
                problem = "another run is compressing this log; wait until it ends"
                raise file_error(path, problem) from None
            file.close()  # Another run has just compressed and removed the file.

    def _compress(self) -> None:
        """Append the log to the compressed file, then remove the log.

        If the process is killed, the log remains, perhaps in both files. Do nothing if another run
        still writes to the log or has compressed it.
        """
        path, packed = self._options.file, self._options.packed
        try:
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as log:
                with contextlib.suppress(BlockingIOError):
                    lock(log.fileno())
                    write_named(packed, self._compressed(log))
                    os.remove(os.path.realpath(path))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            problem = f"{packed} is damaged or not a gzip file"
        except OSError as error:
            problem = f"cannot write {packed}: {error.strerror or error}"
        else:
            return
        self.incomplete = True
        self._notice(f"{problem}; the log is in {path}")

    def _compressed(self, log: BinaryIO) -> Iterator[bytes]:
        """Yield the bytes of the compressed file, then the log in compressed form.

        Raise `gzip.BadGzipFile`, `EOFError` or `zlib.error` if the compressed file is damaged,
        because no program could read a log appended after the damage.
        """
        with contextlib.suppress(FileNotFoundError), open(self._options.packed, "rb") as file:
            with gzip.open(file) as earlier:
                while earlier.read(CHUNK):
                    pass
            file.seek(0)
            while data := file.read(CHUNK):
                yield data
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | GZIP)
        while data := log.read(CHUNK):
            yield packer.compress(data)
        yield packer.flush()

    def _write(
        self, level: str, text: str, game: int | None = None, time: str | None = None
    ) -> None:
        if LOG_LEVELS.index(level) < self._lowest:
            return
        try:
            self._file.write(level, text, game, time)
        except OSError as error:
            self.incomplete = True
            self._lowest = len(LOG_LEVELS)  # The file stays open: workers may still write.
            self._notice(
                f"cannot write {self._options.file}: {error.strerror or error}; "
                "going on without this log"
            )
