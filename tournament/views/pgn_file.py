"""A PGN file that games are added to, and what a run before left in it."""

from __future__ import annotations

import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from merels.engine.game.record import RESULTS
from merels.tournament.records.files import system_error
from merels.tournament.records.pgn_tags import ID_TAG

_RESULTS = frozenset(result.encode() for result in RESULTS)


@dataclass(slots=True)
class _Game:
    """A game in a file: where it begins, in bytes, and its number if it is of this tournament."""

    place: int
    number: int | None = None
    in_tags: bool = True
    """Whether nothing but tags was read of it so far."""
    has_result: bool = False
    """Whether what was read so far ends in a result."""
    is_ended: bool = False
    """Whether an empty line came behind what was read so far."""

    @property
    def is_whole(self) -> bool:
        """Whether it has come to its end, if it is one of ours: tags, moves, result, empty line."""
        return self.is_ended and not self.in_tags and self.has_result


def _games(file: BinaryIO, tournament: str) -> Iterator[_Game]:
    """The games in a PGN file, those of a tournament with their numbers."""
    own = re.compile(rf'\[{ID_TAG} "{re.escape(tournament)}-(\d{{1,18}})"\]'.encode())
    game: _Game | None = None
    place = 0
    if file.read(len(BOM_UTF8)) == BOM_UTF8:  # An editor has saved the file.
        place = len(BOM_UTF8)
    file.seek(place)
    for line in file:
        if not line.strip():
            if game is not None:
                game.is_ended = True
        elif game is None or game.is_ended:
            is_tag = line.startswith(b"[")
            if game is not None and game.in_tags and not is_tag:
                game.in_tags = game.is_ended = False
            else:
                if game is not None:
                    yield game
                game = _Game(place, in_tags=is_tag)
        if game is not None and line.strip():
            game.has_result = line.split()[-1] in _RESULTS
        if game is not None and game.in_tags and (found := own.match(line)):
            game.number = int(found[1])
        place += len(line)
    if game is not None:
        yield game


class PgnFile:
    """A PGN file that games of one tournament are added to, each whole or not at all.

    The file may hold other games. Which of this tournament's are in it already is found out by
    their ids, and the torn end that a crash may leave of one of them is cut off; ``head`` is what
    they all begin with. What is no plain file (a pipe, a device) is only written to.
    """

    def __init__(self, path: str, tournament: str, head: str, append: bool = True) -> None:
        self.path = path
        self.places: dict[int, int] = {}
        """Where each game of this tournament begins, in bytes, by its number."""
        self._foreign = -1
        """Where the last game begins that is not of this tournament."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(path, flags if append else flags | os.O_TRUNC, 0o666)
            self._is_plain = stat.S_ISREG(os.fstat(self._file).st_mode)
            self._end = self._size()
            if self._is_plain:
                self._mend(tournament, head.encode())
        except OSError as error:
            raise system_error(path, "write", error) from None
        self._last = max(self.places, default=0)

    def _size(self) -> int:
        return os.fstat(self._file).st_size

    def _mend(self, tournament: str, head: bytes) -> None:
        """Find our games, cut off a torn one, and see that the file ends in an empty line."""
        game = None
        with open(self._file, "rb", closefd=False) as file:
            for game in _games(file, tournament):
                if game.number is None:
                    self._foreign = game.place
                elif game.is_whole:
                    self.places[game.number] = game.place
            if game is None:
                return
            file.seek(game.place)
            start = file.read(len(head))
            file.seek(max(0, self._end - 1))
            ends_line = file.read() == b"\n"
        torn_before_id = game.number is None and game.in_tags and head.startswith(start)
        if torn_before_id or game.number is not None and not game.is_whole:
            if self._size() == self._end:  # Else it is not torn: another run is writing it.
                self._cut(game.place)
        elif not game.is_ended:
            self._append(b"\n" if ends_line else b"\n\n")

    def make_way(self, number: int) -> None:
        """Cut off this tournament's games from ``number`` on, which will be added again in turn.

        A run that was interrupted wrote them while others were still to be played. Where anything
        else stands behind them, all stays as it is.
        """
        if number > self._last:
            return
        self._last = 0  # The games that are added from now on have higher numbers.
        cut = min(place for other, place in self.places.items() if other >= number)
        behind = [other for other, place in self.places.items() if place >= cut]
        if min(behind) < number or self._foreign > cut or self._size() != self._end:
            return
        self._cut(cut)
        for other in behind:
            del self.places[other]

    def add(self, text: str) -> None:
        """Append a game; OSError (the disk is full) leaves the file as it was before."""
        self._append(text.encode())

    def _append(self, data: bytes) -> None:
        before = self._size()
        if before != self._end:
            self._foreign = self._end  # Somebody else adds to the file as well.
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view):]
        except OSError:
            if self._is_plain:
                self._cut(before)
            raise
        self._end = self._size()

    def _cut(self, place: int) -> None:
        os.ftruncate(self._file, place)
        self._end = place

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
