"""The last position of each game, a line each, as a file of positions (EPD)."""

from __future__ import annotations

import os

from merels.engine.common.files import system_error
from merels.engine.game.notation import format_position
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.views.pgn import GameWriter, PgnView


class EpdWriter(GameWriter):
    """Turns the rows of one tournament into their games' last positions."""

    def text(self, row: Row) -> str:
        """The last position as a line."""
        return f"{format_position(self.record(row).final())}\n"


class EpdFile:
    """A file that lines are added to."""

    def __init__(self, path: str, append: bool) -> None:
        self.path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
        except OSError as error:
            raise system_error(path, "write", error) from None

    def add(self, number: int, text: str) -> None:
        """Add a line; OSError (the disk is full) loses it."""
        os.write(self._file, text.encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class EpdView(PgnView):
    """Adds the last position of each game of this run, in the order of the games' numbers."""

    def found(self, row: Row, standings: Standings) -> None:
        """Write nothing: the earlier run has written the position."""
