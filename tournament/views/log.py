"""Log of a tournament: starts and ends of games and notices, with their times."""

from __future__ import annotations

from merels.tournament.journal.rows import Row
from merels.tournament.records.games import GameSpec
from merels.tournament.records.output import LOG_LEVELS, LogOptions
from merels.tournament.run.log_file import LogFile
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.statistics.terminations import BLAMELESS


class LogView(View):
    """Logs games at level ``info``; notices, and games lost by a fault, at level ``warn``.

    If the log cannot be written, one notice reports this and the tournament continues.
    """

    def __init__(self, options: LogOptions) -> None:
        self._options = options
        self._file: LogFile | None = LogFile(options.file, options.append)
        self._board: Scoreboard | None = None
        self._lowest = LOG_LEVELS.index(options.level)

    def attach(self, board: Scoreboard) -> None:
        self._board = board

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
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(
        self, level: str, text: str, game: int | None = None, time: str | None = None
    ) -> None:
        if self._file is None or LOG_LEVELS.index(level) < self._lowest:
            return
        try:
            self._file.write(level, text, game, time)
        except OSError as error:
            self.incomplete = True
            self._lowest = len(LOG_LEVELS)  # The file stays open: workers may still write.
            assert self._board is not None
            self._board.notice(
                f"cannot write {self._options.file}: {error.strerror or error}; "
                "going on without this log"
            )
