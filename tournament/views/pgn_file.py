"""PGN output: a file to which a tournament's games are appended, or standard output."""

from __future__ import annotations

import os
import re
import sys

from merels.engine.common.saving import append_open, locked, open_to_append
from merels.protocol.common.files import system_error
from merels.tournament.records.output import ID_TAG, STANDARD_OUTPUT
from merels.tournament.views.output import put


class PgnFile:
    """A PGN file to which games are appended, each whole or not at all; a pipe or device, too.

    With ``append``, the file's other text stays; without, the file is emptied. Raises `InputError`
    if the file cannot be written.
    """

    def __init__(self, path: str, tournament: str, append: bool = True) -> None:
        self.path = path
        self.numbers: set[int] = set()
        """Numbers of the games of ``tournament``, an id, that the file held when it was opened."""
        self._device: int | None = None
        """Descriptor of a pipe or device; None for a regular file."""
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                self._device = open_to_append(path)
                return
            with locked(path) as file:
                if append:
                    append_open(file, self._missing_lines(tournament))
                else:
                    os.ftruncate(file, 0)
        except OSError as error:
            raise system_error(path, "write", error) from None

    def _missing_lines(self, tournament: str) -> bytes:
        """Read `numbers`; return the line breaks after which a game can be appended.

        A last game of this tournament that a killed run or a full disk has cut is removed.
        """
        own_tag = re.compile(rf'\[{ID_TAG} "{re.escape(tournament)}-(\d{{1,18}})"\]'.encode())
        start = position = 0
        blank_lines, last, line = 0, None, b""
        with open(self.path, "rb") as file:
            for line in file:
                if line.startswith(b"[Event "):
                    start, blank_lines, last = position, 0, None
                elif match := own_tag.match(line):
                    last = int(match[1])
                    self.numbers.add(last)
                blank_lines += not line.strip()
                position += len(line)
        if last is not None and blank_lines < 2:
            self.numbers.remove(last)
            os.truncate(self.path, start)
            return b""
        return b"" if not line.strip() else b"\n" if line.endswith(b"\n") else b"\n\n"

    def add(self, text: str) -> None:
        """Append a game; an `OSError`, as on a full disk, leaves a regular file unchanged."""
        data = text.encode()
        if self._device is None:
            with locked(self.path) as file:
                append_open(file, data)
        else:
            while data:
                data = data[os.write(self._device, data) :]

    def close(self) -> None:
        """Close a pipe or device."""
        if self._device is not None:
            os.close(self._device)


class PgnOutput:
    """Standard output in place of a PGN file; raises `OutputError` if it cannot be written."""

    path = STANDARD_OUTPUT
    numbers: frozenset[int] = frozenset()

    def add(self, text: str) -> None:
        """Print a game."""
        put(sys.stdout, text)

    def close(self) -> None:
        """Leave standard output open."""
