"""A PGN file that a tournament's games are added to, after whatever else it holds."""

from __future__ import annotations

import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO

from merels.engine.game.record import RESULTS
from merels.tournament.records.files import system_error
from merels.tournament.records.output import ID_TAG

_RESULTS = tuple(result.encode() for result in RESULTS)


class PgnFile:
    """A PGN file that games of one tournament are added to, each whole or not at all.

    This tournament's games at the end of the file, torn or whole, are cut off: the journal holds
    them, and they are added again in order. Everything else is kept. ``head`` is what the
    tournament's games begin with. A pipe or a device is only written to.
    """

    def __init__(self, path: str, tournament: str, head: str, append: bool = True) -> None:
        self.path = path
        self.kept: set[int] = set()
        """The numbers of this tournament's games in front of another's; they stay."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
            self._is_plain = stat.S_ISREG(os.fstat(self._file).st_mode)
            if self._is_plain:
                self._prepare(tournament, head.encode())
        except OSError as error:
            raise system_error(path, "write", error) from None

    def _prepare(self, tournament: str, head: bytes) -> None:
        """Cut off what will be added again, and let the file end in an empty line."""
        own = re.compile(rf'^\[{ID_TAG} "{re.escape(tournament)}-(\d{{1,18}})"\]'.encode(), re.M)
        whole: list[int] = []  # games of ours after the last one of others
        number = cut = None
        text, is_ended = b"", True
        with open(self._file, "rb", closefd=False) as file:
            for place, text, is_ended in _paragraphs(file):
                if tags := own.search(text):
                    number = int(tags[1])
                elif number is not None and not text.startswith(b"["):  # its moves
                    if text.split()[-1] in _RESULTS:
                        whole.append(number)
                    number = None
                elif is_ended or not (text.startswith(head) or head.startswith(text)):
                    self.kept.update(whole)
                    number = cut = None
                    whole.clear()
                    continue
                cut = place if cut is None else cut
            end = file.tell()
        if cut is not None and self._size() == end:
            os.ftruncate(self._file, cut)
            return
        self.kept.update(whole)  # Another run is adding games after them.
        if not is_ended:
            self.add("\n" if text.endswith(b"\n") else "\n\n")

    def _size(self) -> int:
        return os.fstat(self._file).st_size

    def add(self, text: str) -> None:
        """Append a game; OSError (the disk is full) leaves the file as it was before."""
        before = self._size()
        data = memoryview(text.encode())
        try:
            while data:
                data = data[os.write(self._file, data):]
        except OSError:
            if self._is_plain:
                os.ftruncate(self._file, before)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


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
