"""The games that are kept: one PGN file for each, in a folder of the user's."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from merels.engine.common.errors import InputError
from merels.engine.common.saving import Stamp, create_lock, remove_lock, stamp, write_whole
from merels.engine.common.text_file import decode, read_regular_file
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.formats.pgn.tokens import LONGEST_GAME, read_tags
from merels.protocol.formats.pgn.writer import format_record
from merels.protocol.games.record import Record

UNFINISHED = "unterminated"
"""PGN's word for the end of a game that goes on."""
_ENDING = ".pgn"
_LOCK_ENDING = ".lock"
_COMMENT = re.compile(r"\{[^}]*+\}?+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept game: its key, its tags, when it was changed, and what can be searched for."""

    key: str
    tags: dict[str, str]
    changed: int
    """In nanoseconds; the larger the later."""
    words: str
    """The text of its tags and comments, in lower case, for searching."""

    @property
    def unfinished(self) -> bool:
        """Whether the game goes on."""
        return self.tags.get("Termination") == UNFINISHED


class ChangedElsewhere(Exception):
    """A game's file is not as the board that keeps the game has last read or written it."""


class Claim:
    """The right of one board to keep a game, by its key, in the game's file.

    ``watched`` returns whether a page shows the board. Only `GameStore` changes the other fields.
    """

    def __init__(self, key: str, watched: Callable[[], bool], seen: Stamp | None) -> None:
        self.key = key
        self.watched = watched
        self.seen = seen
        """The file's stamp when it was last read or written; None: there was no file."""
        self.lock: int | None = None
        """The descriptor of the lock file, unless the file system has no locks."""


class GameStore:
    """The games in a folder, which is made when the first is kept. Any thread may use it.

    Several processes may use one folder. While a board of one holds the `Claim` to a game, boards
    of the others neither write nor remove the game's file.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._claims: dict[str, Claim] = {}
        """The claims that boards of this process hold, by their keys."""
        self._guard = Lock()
        self._seen: dict[str, Entry] = {}

    def new_key(self) -> str:
        """The key of another game; keys sort by time."""
        return f"{datetime.now():%Y%m%d-%H%M%S-%f}-{secrets.token_hex(3)}"

    def add(self, record: Record) -> None:
        """Keep a game that is on no board."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(self.new_key()), [format_record(record).encode()])

    def begin(self, watched: Callable[[], bool]) -> Claim:
        """Return the claim to a new game; raise `OSError` if the folder cannot be created."""
        self.folder.mkdir(parents=True, exist_ok=True)
        claim = Claim(self.new_key(), watched, None)
        self.hold(claim)
        return claim

    def claim(self, key: str, watched: Callable[[], bool]) -> Claim:
        """Return the claim to a kept game; `InputError` if it is on a board that is looked at."""
        claim = Claim(key, watched, stamp(self._path(key)))
        if not self.hold(claim):
            where = "in another tab" if key in self._claims else "on another board of merels"
            raise InputError(key, f"this game is open {where}; close it there first")
        return claim

    def hold(self, claim: Claim) -> bool:
        """Take a claim again that was released, or is held by a board that no page shows.

        Returns whether the board holds it now.
        """
        with self._guard:
            holder = self._claims.get(claim.key)
            if holder is None:
                try:
                    claim.lock = create_lock(self._lock_file(claim.key))
                except BlockingIOError:
                    return False
            elif holder.watched is not claim.watched and holder.watched():
                return False
            elif holder is not claim:
                claim.lock, holder.lock = holder.lock, None
            self._claims[claim.key] = claim
        return True

    def release(self, claim: Claim) -> None:
        """Let any board have a game."""
        with self._guard:
            if self._claims.get(claim.key) is claim:
                del self._claims[claim.key]
                remove_lock(claim.lock, self._lock_file(claim.key))
                claim.lock = None

    def is_free(self, key: str) -> bool:
        """Whether a game is on no board of any process that somebody looks at."""
        with self._guard:
            if key in self._claims:
                return not self._claims[key].watched()
            if not self._lock_file(key).exists():
                return True
            try:  # A killed process leaves its lock file.
                remove_lock(create_lock(self._lock_file(key)), self._lock_file(key))
            except BlockingIOError:
                return False
        return True

    def write(self, claim: Claim, record: Record) -> None:
        """Keep a game by a claim that is held; its file has the whole old game or the new one.

        `ChangedElsewhere` if another program has changed, made or removed the file.
        """
        path = self._file(claim.key)
        self.folder.mkdir(parents=True, exist_ok=True)
        if stamp(path) != claim.seen:
            raise ChangedElsewhere(claim.key)
        write_whole(path, [format_record(record).encode()])
        claim.seen = stamp(path)

    def read(self, key: str) -> Record:
        """Return a game; raise `InputError` if it cannot be read."""
        try:
            return parse_record(_read(self._path(key)))
        except (OSError, UnicodeError) as error:
            raise InputError(key, f"the game's file cannot be read ({error})") from None

    def remove(self, claim: Claim, changed: int) -> None:
        """Remove a game for good; `InputError` if it was changed after ``changed``."""
        path = self._file(claim.key)
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime_ns != changed:
                raise InputError(
                    claim.key, "this game has changed meanwhile; look at it before you delete it"
                )
            path.unlink()

    def entries(self, query: str = "") -> list[Entry]:
        """The games with all words of a query, the last changed first."""
        words = query.lower().split()
        found = [entry for entry in self._entries() if all(word in entry.words for word in words)]
        return sorted(found, key=lambda entry: (entry.changed, entry.key), reverse=True)

    def text(self, query: str = "") -> str:
        """Return the games that contain all words of a query as one PGN text, oldest first."""
        paths = [self.folder / (entry.key + _ENDING) for entry in self.entries(query)]
        texts = []
        for path in sorted(paths):
            with suppress(FileNotFoundError):  # Another program has just removed it.
                texts.append(_read(path))
        return "".join(texts)

    def _file(self, key: str) -> Path:
        return self.folder / (key + _ENDING)

    def _lock_file(self, key: str) -> Path:
        return self.folder / (key + _LOCK_ENDING)

    def _path(self, key: str) -> Path:
        """A game's file; no name but that of a game that is there gets near the disk."""
        if key not in {entry.key for entry in self._entries()}:
            raise InputError(key, f"no such game is kept in {self.folder}")
        return self._file(key)

    def _entries(self) -> Iterator[Entry]:
        """Every game, in no order."""
        try:
            files = list(os.scandir(self.folder))
        except FileNotFoundError:
            return
        for key in self._seen.keys() - {file.name.removesuffix(_ENDING) for file in files}:
            self._seen.pop(key, None)  # Its file is gone.
        for file in files:
            if file.name.endswith(_ENDING):
                with suppress(OSError, UnicodeError):
                    yield self._entry(Path(file.path), file.stat().st_mtime_ns)

    def _entry(self, path: Path, changed: int) -> Entry:
        seen = self._seen.get(path.stem)
        if seen is None or seen.changed != changed:
            text = _read(path)
            tags = read_tags(text)
            words = " ".join((*tags.values(), *_COMMENT.findall(text))).lower()
            seen = self._seen[path.stem] = Entry(path.stem, tags, changed, words)
        return seen


def _read(path: Path) -> str:
    """Return the text of a game's file."""
    return decode(read_regular_file(path, LONGEST_GAME))
