"""PGN output file: the games of a tournament, after any other text in the file."""

from __future__ import annotations

import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import BinaryIO

from merels.engine.common.files import system_error
from merels.engine.common.saving import (
    append_open,
    append_whole,
    locked,
    open_to_append,
    write_named,
)
from merels.tournament.journal.rows import Row
from merels.tournament.records.output import ID_TAG, STANDARD_OUTPUT
from merels.tournament.views.output import put
from merels.tournament.views.pgn import GameWriter


class PgnFile:
    """A PGN file to which the games of one tournament are appended, each whole or not at all.

    ``rows`` returns the games of the tournament's journal. If there are any, or without ``append``,
    the constructor rewrites the file with these games. `close` rewrites the file if games were
    added out of order. With ``append``, all other text of the file is kept in front of the games.

    A rewritten file replaces the old file atomically: after a kill or on a full disk, the old file
    remains. Pipes and devices are never rewritten.
    """

    def __init__(
        self, path: str, writer: GameWriter, rows: Callable[[], Iterable[Row]], append: bool = True
    ) -> None:
        self.path = path
        self._writer, self._rows = writer, rows
        self._last = 0
        """Largest game number in the file."""
        self._is_sorted = True
        self._device: int | None = None
        """Descriptor of a pipe or device; None for a regular file."""
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                self._device = open_to_append(path)
                for row in rows():
                    self.add(row.number, writer.text(row))
                return
            append_whole(path, b"")
            if not append or any(True for _ in rows()):
                self._rewrite(append)
            else:
                append_whole(path, _missing_lines(path))
        except OSError as error:
            raise system_error(path, "write", error) from None

    def add(self, number: int, text: str) -> None:
        """Append a game; an `OSError`, as on a full disk, leaves a regular file unchanged."""
        data = text.encode()
        if self._device is None:
            with locked(self.path) as file:
                append_open(file, data)
        else:
            while data:
                data = data[os.write(self._device, data) :]
        self._is_sorted &= number > self._last
        self._last = max(number, self._last)

    def close(self) -> None:
        """Sort the games by number if they were added out of order, and close the file."""
        if self._device is not None:
            os.close(self._device)
        elif not self._is_sorted:
            with suppress(OSError):
                self._rewrite(True)

    def _rewrite(self, append: bool) -> None:
        with locked(self.path):
            write_named(self.path, self._parts(append))
        self._is_sorted = True

    def _parts(self, append: bool) -> Iterator[bytes]:
        """Yield the parts of the new file: other text, then the tournament's games in order."""
        with open(self.path, "rb") as file:
            if append:
                yield from self._other_text(file)
            for row in self._rows():
                self._last = row.number
                yield self._writer.text(row).encode()
            if append:
                yield file.read()  # Text of a program that takes no lock.

    def _other_text(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the text of a file without this tournament's games, whether whole or incomplete."""
        identity = re.escape(self._writer.identity(0)[:-1])
        own_tag = re.compile(rf'^\[{ID_TAG} "{identity}\d{{1,18}}"\]'.encode(), re.M)
        pending, is_own, has_tags = b"", False, False
        for has_text, lines in groupby(file, lambda line: bool(line.strip())):
            yield pending
            text = b"".join(lines)
            if has_text:
                are_moves = has_tags and not text.startswith(b"[")
                is_own = is_own and are_moves or own_tag.search(text) is not None
                has_tags = text.removeprefix(BOM_UTF8).startswith(b"[")
            pending = b"" if is_own else text
        if pending.strip():
            head = self._writer.head.encode()
            if pending.startswith(head) or head.startswith(pending):
                return  # An incomplete game that ends before the tag of the tournament.
            pending += b"\n" if pending.endswith(b"\n") else b"\n\n"
        yield pending


class PgnOutput:
    """Standard output in place of a PGN file; raises `OutputError` if it cannot be written."""

    path = STANDARD_OUTPUT

    def __init__(self, writer: GameWriter, rows: Iterable[Row]) -> None:
        for row in rows:
            self.add(row.number, writer.text(row))

    def add(self, number: int, text: str) -> None:
        """Print a game."""
        put(sys.stdout, text)

    def close(self) -> None:
        """Leave standard output open."""


def _missing_lines(path: str) -> bytes:
    """Return the line breaks to append so that the file ends in an empty line."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        end = file.read()
    breaks = end[len(end.rstrip(b"\r\n")) :].count(b"\n")
    return b"\n" * max(0, 2 - breaks) if size else b""
