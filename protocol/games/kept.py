"""The games that are kept: one PGN file for each, in a folder of the user's."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.game.record import Record, format_record
from merels.engine.game.record_reader import parse_record, read_tags
from merels.engine.game.saving import write_whole

UNFINISHED = "unterminated"
"""PGN's word for the end of a game that goes on."""
_ENDING = ".pgn"
_COMMENT = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept game: its key, its tags, when it was changed, and what can be searched for."""

    key: str
    tags: dict[str, str]
    changed: int
    """In nanoseconds; the larger the later."""
    words: str
    """What its tags and comments say, in small letters."""

    @property
    def unfinished(self) -> bool:
        """Whether the game goes on."""
        return self.tags.get("Termination") == UNFINISHED


class Kept:
    """The games in a folder, which is made when the first is kept. Any thread may use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.holders: dict[str, object] = {}
        """Who has a game on the board and keeps it; nobody else may."""
        self._seen: dict[str, Entry] = {}

    def new_key(self) -> str:
        """The key of another game; keys sort by time."""
        return f"{datetime.now():%Y%m%d-%H%M%S-%f}-{secrets.token_hex(3)}"

    def write(self, key: str, record: Record) -> None:
        """Keep a game, in place of what was kept under its key. It is there whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / (key + _ENDING)
        write_whole(path, [format_record(record).encode()])

    def read(self, key: str) -> Record:
        """A game; `InputError` says why it cannot be read."""
        try:
            return parse_record(self._path(key).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(key, f"the game's file cannot be read ({error})") from None

    def remove(self, key: str) -> None:
        """Remove a game for good."""
        self._path(key).unlink(missing_ok=True)

    def entries(self, query: str = "") -> list[Entry]:
        """The games with all words of a query, the last changed first."""
        words = query.lower().split()
        found = [entry for entry in self._entries() if all(word in entry.words for word in words)]
        return sorted(found, key=lambda entry: (entry.changed, entry.key), reverse=True)

    def text(self, query: str = "") -> str:
        """The games with all words of a query as one PGN text, in the order they were begun."""
        paths = [self.folder / (entry.key + _ENDING) for entry in self.entries(query)]
        return "".join(path.read_text(encoding="utf-8") for path in sorted(paths))

    def _path(self, key: str) -> Path:
        """A game's file; no name but that of a game that is there gets near the disk."""
        if key not in {entry.key for entry in self._entries()}:
            raise InputError(key, f"no such game is kept in {self.folder}")
        return self.folder / (key + _ENDING)

    def _entries(self) -> Iterator[Entry]:
        """Every game, in no order."""
        try:
            files = list(os.scandir(self.folder))
        except FileNotFoundError:
            return
        for file in files:
            if file.name.endswith(_ENDING):
                with suppress(OSError, UnicodeDecodeError):
                    yield self._entry(Path(file.path), file.stat().st_mtime_ns)

    def _entry(self, path: Path, changed: int) -> Entry:
        seen = self._seen.get(path.stem)
        if seen is None or seen.changed != changed:
            text = path.read_text(encoding="utf-8")
            tags = read_tags(text)
            words = " ".join((*tags.values(), *_COMMENT.findall(text))).lower()
            seen = self._seen[path.stem] = Entry(path.stem, tags, changed, words)
        return seen
