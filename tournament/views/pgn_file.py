"""A PGN file that a tournament's games are added to, after whatever else it holds."""

from __future__ import annotations

import os
import re
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO

from merels.engine.common.files import system_error
from merels.engine.common.saving import append_open
from merels.protocol.games.record import RESULTS
from merels.tournament.records.output import ID_TAG, STANDARD_OUTPUT
from merels.tournament.views.output import put

_RESULTS = tuple(result.encode() for result in RESULTS)
MOST_MOVED = 1 << 20
"""Bytes of games that are moved back when one before them is added."""


class PgnFile:
    """A PGN file that games of one tournament are added to, each whole or not at all.

    This tournament's games at the end of the file are added again in order, since the journal
    holds them. Existing games stay in place, and later games move back for
    one that was missing before them; a torn game is removed. Other text is not changed.
    ``head`` is what the tournament's games begin with. A pipe or a device is only written to.
    """

    def __init__(self, path: str, tournament: str, head: str, append: bool = True) -> None:
        self.path = path
        self._kept: set[int] = set()
        """The numbers of this tournament's games in front of another's, which stay."""
        self._behind: dict[int, int] = {}
        """Lengths in bytes of the games at the end of the file that will be added again."""
        self._place = self._end = 0
        """Where these begin, and where they end."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
            self._is_plain = stat.S_ISREG(os.fstat(self._file).st_mode)
            if self._is_plain:
                self._prepare(tournament, head.encode())
        except OSError as error:
            raise system_error(path, "write", error) from None

    def _prepare(self, tournament: str, head: bytes) -> None:
        """Find the games that will be added again, and let the file end in an empty line."""
        own = re.compile(rf'^\[{ID_TAG} "{re.escape(tournament)}-(\d{{1,18}})"\]'.encode(), re.M)
        places: dict[int, int] = {}
        """Where its whole games begin that no other's follow."""
        number = torn = None
        start, text, is_ended = 0, b"", True
        with open(self._file, "rb", closefd=False) as file:
            for place, text, is_ended in _paragraphs(file):
                if tags := own.search(text):
                    if number is not None and torn is None:
                        torn = start  # It has no moves.
                    number, start = int(tags[1]), place
                elif number is not None and not text.startswith(b"["):  # its moves
                    if is_ended and text.split()[-1] in _RESULTS and number not in places:
                        places[number] = start
                    elif torn is None:
                        torn = start
                    number = None
                elif is_ended or not (text.startswith(head) or head.startswith(text)):
                    self._kept.update(places)
                    number = torn = None
                    places.clear()
                elif number is None and torn is None:
                    torn = place
            end = file.tell()
        if number is not None and torn is None:
            torn = start
        if self._size() == end and (places or torn is not None):
            self._end = end if torn is None else torn
            os.ftruncate(self._file, self._end)
            starts = [place for place in places.values() if place < self._end]
            self._place = min([*starts, self._end])
            lengths = (after - before for before, after in zip(starts, [*starts[1:], self._end]))
            self._behind = dict(zip(places, lengths))
            return
        self._kept.update(places)  # Another run is adding games after them.
        if not is_ended:
            append_open(self._file, b"\n" if text.endswith(b"\n") else b"\n\n")

    def _size(self) -> int:
        return os.fstat(self._file).st_size

    def add(self, number: int, text: str) -> None:
        """Add a game unless it is there; OSError (the disk is full) leaves the file as it was."""
        data = text.encode()
        if self._behind and self._size() != self._end:  # Another run has added games meanwhile.
            self._kept.update(self._behind)
            self._behind.clear()
        if number in self._kept:
            return
        if not self._behind:
            append_open(self._file, data)
        elif next(iter(self._behind)) == number and self._read(len(data)) == data:
            self._place += self._behind.pop(number)
        else:
            self._insert(number, data)

    def _insert(self, number: int, data: bytes) -> None:
        """Put a game in front of those that come later, and in place of what it was before."""
        later = b""
        if self._end - self._place > MOST_MOVED:
            self._behind.clear()  # They come again, one by one.
        else:
            old, place = self._read(self._end - self._place), 0
            for other, length in self._behind.items():
                later += old[place : place + length] if other != number else b""
                place += length
        self._behind.pop(number, None)
        os.ftruncate(self._file, self._place)
        try:
            append_open(self._file, data + later)
        except OSError:
            append_open(self._file, later)
            raise
        self._place += len(data)
        self._end = self._place + len(later)

    def _read(self, size: int) -> bytes:
        """Bytes of the games that will be added again."""
        with open(self._file, "rb", closefd=False) as file:
            file.seek(self._place)
            return file.read(size)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class PgnOutput:
    """Standard output in the place of a PGN file; `OutputError` where it cannot be written."""

    path = STANDARD_OUTPUT

    def add(self, number: int, text: str) -> None:
        """Print a game."""
        put(sys.stdout, text)

    def close(self) -> None:
        """Leave it open."""


def _paragraphs(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Each run of lines with its place in bytes, and whether an empty line followed it."""
    place = len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0  # an editor's mark
    file.seek(place)
    text = b""
    for has_text, lines in groupby(file, lambda line: bool(line.strip())):
        block = b"".join(lines)
        if has_text:
            text = block
        elif text:
            yield place - len(text), text, True
            text = b""
        place += len(block)
    if text:
        yield place - len(text), text, False
