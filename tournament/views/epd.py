"""EPD file with the last position of each game, one per line."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable

from merels.engine.common.files import system_error
from merels.engine.common.saving import append_open, open_to_append
from merels.engine.game.notation import format_position
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.views.pgn import GameWriter, PgnView


class EpdWriter(GameWriter):
    """Formats the last position of each game of one tournament."""

    def text(self, row: Row) -> str:
        """Return the last position of a game as a line."""
        return f"{format_position(self.record(row).final())}\n"


class EpdFile:
    """A file to which lines are appended, each whole or not at all.

    ``games``: number of games that earlier runs of the tournament have played.
    """

    def __init__(self, path: str, append: bool, games: int = 0) -> None:
        self.path = path
        self.earlier: Counter[bytes] = Counter()
        """How often each of the last ``games`` lines, perhaps of earlier runs, occurs."""
        try:
            self._file = open_to_append(path, truncate=not append)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    last = deque(file, games or 1)
                if last and not last[-1].endswith(b"\n"):
                    append_open(self._file, b"\n")
                if games:
                    self.earlier.update(last)
        except OSError as error:
            raise system_error(path, "write", error) from None

    def add(self, number: int, text: str) -> None:
        """Append a line; an `OSError`, as on a full disk, leaves the file unchanged."""
        append_open(self._file, text.encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class EpdView(PgnView):
    """Appends the last position of each game, in the order of game numbers.

    Positions of earlier runs that are missing from the file are appended first.
    """

    def __init__(
        self, file: EpdFile, writer: EpdWriter, notice: Callable[[str], None], journaled: bool
    ) -> None:
        super().__init__(file, writer, notice, journaled)
        self._earlier = file.earlier

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        line = self._writer.text(row).encode()
        if self._earlier[line]:
            self._earlier[line] -= 1
        else:
            self.finished_in_order(row, standings)
