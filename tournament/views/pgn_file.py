"""A PGN file that a tournament's games are added to, after whatever else it holds."""

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
from merels.engine.common.saving import append_open, append_whole, locked, write_named
from merels.tournament.journal.rows import Row
from merels.tournament.records.output import ID_TAG, STANDARD_OUTPUT
from merels.tournament.views.output import put
from merels.tournament.views.pgn import GameWriter


class PgnFile:
    """A PGN file to which the games of one tournament are added, each whole or not at all.

    ``rows`` returns the games of the tournament's journal. If there are any, the file is rewritten
    with them at first. It is rewritten at the end as well if games did not come in the order of
    their numbers. Text of others stays, in front of the tournament's games, unless ``append`` is
    False. A rewritten file replaces the old one in one step: a killed program or a full disk leaves
    that as it was. A pipe or a device is only written to.
    """

    def __init__(
        self, path: str, writer: GameWriter, rows: Callable[[], Iterable[Row]], append: bool = True
    ) -> None:
        self.path = path
        self._writer, self._rows = writer, rows
        self._last = 0
        """The greatest number in the file."""
        self._is_sorted = True
        self._device: int | None = None
        """The descriptor of what is no ordinary file."""
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                self._device = os.open(path, os.O_RDWR)
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
        """Add a game; OSError (the disk is full) leaves the file as it was."""
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
        """Sort the games, where that is possible."""
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
        """The new file: the text of others, and all games of the tournament in order."""
        with open(self.path, "rb") as file:
            if append:
                yield from self._of_others(file)
            for row in self._rows():
                self._last = row.number
                yield self._writer.text(row).encode()
            if append:
                yield file.read()  # A program that takes no lock has added it meanwhile.

    def _of_others(self, file: BinaryIO) -> Iterator[bytes]:
        """The text of a file without this tournament's games, one of which may be torn."""
        identity = re.escape(self._writer.identity(0)[:-1])
        own = re.compile(rf'^\[{ID_TAG} "{identity}\d{{1,18}}"\]'.encode(), re.M)
        held, is_own, has_tags = b"", False, False
        for has_text, lines in groupby(file, lambda line: bool(line.strip())):
            yield held
            text = b"".join(lines)
            if has_text:
                are_moves = has_tags and not text.startswith(b"[")
                is_own = is_own and are_moves or own.search(text) is not None
                has_tags = text.removeprefix(BOM_UTF8).startswith(b"[")
            held = b"" if is_own else text
        if held.strip():
            head = self._writer.head.encode()
            if held.startswith(head) or head.startswith(held):
                return  # It ends before the tag that names the tournament.
            held += b"\n" if held.endswith(b"\n") else b"\n\n"
        yield held


class PgnOutput:
    """Standard output in the place of a PGN file; `OutputError` where it cannot be written."""

    path = STANDARD_OUTPUT

    def __init__(self, writer: GameWriter, rows: Iterable[Row]) -> None:
        for row in rows:
            self.add(row.number, writer.text(row))

    def add(self, number: int, text: str) -> None:
        """Print a game."""
        put(sys.stdout, text)

    def close(self) -> None:
        """Leave it open."""


def _missing_lines(path: str) -> bytes:
    """What a file lacks to end in an empty line, which separates games."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        end = file.read()
    breaks = end[len(end.rstrip(b"\r\n")) :].count(b"\n")
    return b"\n" * max(0, 2 - breaks) if size else b""
