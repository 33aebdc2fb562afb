"""The user's stored games: a folder with one PGN file for each game."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

from merels.engine.common.errors import InputError, printable
from merels.engine.common.messages import message
from merels.engine.common.regular_file import read_regular_file
from merels.engine.common.saving import Stamp, create_lock, remove_lock, stamp, write_whole
from merels.engine.game.position import Position
from merels.protocol.board.requests import FULL
from merels.protocol.common.text_file import decode
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.formats.pgn.tokens import LONGEST_GAME, read_tags
from merels.protocol.games.record import Record
from merels.protocol.games.writer import format_record

UNFINISHED = "unterminated"
"""Value of PGN's tag Termination for an unfinished game."""
_ENDING = ".pgn"
_LOCK = "board.lock"
MAX_WORDS = 100
"""Different words of a query, at most; each is searched in every game."""
SIDES = ("White", "Black")
_ENGINE = re.compile(r"merels(?: \((\w++)\))?")
_COMMENT = re.compile(r"\{[^}]*+\}?+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored game, as a list of games shows it."""

    key: str
    tags: dict[str, str]
    changed: int
    """Modification time of the file, in nanoseconds since the epoch."""
    words: str
    """Tags and comments in lower case, for searching."""
    final: Position | None
    """The position after the last move; None if the game cannot be read."""

    @property
    def unfinished(self) -> bool:
        """Whether the game can be resumed."""
        return self.tags.get("Termination") == UNFINISHED

    @property
    def own(self) -> str:
        """Result of the only user, who played an engine: win, draw or loss; '' without one."""
        types = [self.tags.get(f"{side}Type") for side in SIDES]
        result = self.tags.get("Result", "*")
        if self.unfinished or result == "*" or sorted(map(str, types)) != ["human", "program"]:
            return ""
        if result == "1/2-1/2":
            return "draw"
        return "win" if types[result == "0-1"] == "human" else "loss"

    @property
    def levels(self) -> list[str]:
        """The levels of merels that played, FULL for full strength, White's first."""
        names = [_ENGINE.fullmatch(self.tags.get(side, "")) for side in SIDES]
        return [name[1] or FULL for name in names if name]

    def player_name(self, side: str) -> str:
        """Return a player's name; one that the board has given is a `Message`."""
        name, kind = self.tags.get(side, "?"), self.tags.get(f"{side}Type")
        engine = _ENGINE.fullmatch(name) if kind == "program" else None
        if engine and engine[1]:
            return message("merels ({level})", level=engine[1])
        return message(name) if kind == "human" and name in ("You", "Player") else name

    @property
    def labels(self) -> list[str]:
        """Keys of what a list shows in the user's language: result, month, rules and levels."""
        variant, date = self.tags.get("Variant", ""), self.tags.get("Date", "")
        keys = [f"rules.{variant.split(' ')[0]}", f"month.{date[5:7]}"]
        keys += [f"level.{name}" for name in self.levels]
        result = self.tags.get("Result", "*")
        if self.unfinished or result == "*":
            return [*keys, "open"]
        return [*keys, "draw" if result == "1/2-1/2" else self.own]


class ChangedElsewhere(Exception):
    """A game's file is not as the claiming board last read or wrote it."""


class Claim:
    """A board's exclusive right to write the file of one game.

    ``watched`` returns whether a page shows the board.
    """

    def __init__(self, key: str, watched: Callable[[], bool], last_stamp: Stamp | None) -> None:
        self.key = key
        self.watched = watched
        self.last_stamp = last_stamp
        """The file's stamp at the last read or write; None if there was no file."""


class GameStore:
    """The games in ``folder``, which is created with the first game. Thread-safe.

    Only the board that holds the `Claim` to a game replaces or removes the game's file. `own` keeps
    other processes out of the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._claims: dict[str, Claim] = {}
        """Claims held by boards, by key."""
        self._owned: int | None = None
        """Descriptor of the folder's lock file."""
        self._lock = Lock()
        self._cache: dict[str, Entry] = {}

    def own(self) -> str:
        """Lock the folder for this process, until it ends or calls `disown`.

        If another process owns the folder, own and use a folder below it, and return a notice that
        names that process; else return ''. A folder that allows no lock is used without one.
        """
        first, holder, count = self.folder, "", 1
        while True:
            with suppress(OSError):
                self.folder.mkdir(parents=True, exist_ok=True)
            lock = self.folder / _LOCK
            try:
                self._owned = create_lock(lock)
                break
            except BlockingIOError:
                if not holder:
                    with suppress(OSError):
                        holder = lock.read_text(errors="replace")[:20]
                count += 1
                self.folder = first / f"board-{count}"
        if self._owned is not None:
            os.truncate(self._owned, 0)
            os.write(self._owned, str(os.getpid()).encode())
        if count == 1:
            return ""
        return printable(
            message(
                "Another merels board, process {process}, keeps its games in {folder}. The games "
                "of this one are kept in {own}.",
                process=holder or "?", folder=first, own=self.folder,
            )
        )

    def disown(self) -> None:
        """Unlock the folder."""
        remove_lock(self._owned, self.folder / _LOCK)
        self._owned = None

    def new_key(self) -> str:
        """Return a new key; keys sort by local time."""
        return f"{datetime.now():%Y%m%d-%H%M%S-%f}-{secrets.token_hex(3)}"

    def add(self, record: Record) -> None:
        """Store a game that is on no board; raise `OSError` if it cannot be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(self.new_key()), [format_record(record).encode()])

    def begin(self, watched: Callable[[], bool]) -> Claim:
        """Return the claim to a new game; raise `OSError` if the folder cannot be created."""
        self.folder.mkdir(parents=True, exist_ok=True)
        claim = Claim(self.new_key(), watched, None)
        self.acquire(claim)
        return claim

    def claim(self, key: str, watched: Callable[[], bool]) -> Claim:
        """Return the claim to a stored game.

        Raise `InputError` if there is no such game, or a watched board has it.
        """
        claim = Claim(key, watched, stamp(self._path(key)))
        if not self.acquire(claim):
            tags = next((entry.tags for entry in self._entries() if entry.key == key), {})
            names = " – ".join(tags.get(side, "?") for side in SIDES)
            raise InputError(names, "this game is open in another tab; close it there first")
        return claim

    def acquire(self, claim: Claim) -> bool:
        """Acquire a claim that is free, or held by the same board or an unwatched one.

        Return whether the claim is held now.
        """
        with self._lock:
            holder = self._claims.get(claim.key, claim)
            if holder.watched is not claim.watched and holder.watched():
                return False
            self._claims[claim.key] = claim
        return True

    def release(self, claim: Claim) -> None:
        """Release a claim, if it is held."""
        with self._lock:
            if self._claims.get(claim.key) is claim:
                del self._claims[claim.key]

    def is_free(self, key: str) -> bool:
        """Return whether no watched board holds the claim to a game."""
        with self._lock:
            claim = self._claims.get(key)
        return claim is None or not claim.watched()

    def write(self, claim: Claim, record: Record) -> None:
        """Replace the file of a game, atomically; the claim must be held.

        Raise `ChangedElsewhere` if another program has created, changed or removed the file.
        """
        path = self._file(claim.key)
        self.folder.mkdir(parents=True, exist_ok=True)
        if stamp(path) != claim.last_stamp:
            raise ChangedElsewhere(claim.key)
        write_whole(path, [format_record(record).encode()])
        claim.last_stamp = stamp(path)

    def read(self, key: str) -> Record:
        """Return a game; raise `InputError` if it cannot be read."""
        try:
            return parse_record(_read(self._path(key)))
        except (OSError, UnicodeError) as error:
            raise InputError(key, f"the game's file cannot be read ({error})") from None

    def remove(self, claim: Claim, changed: int) -> None:
        """Delete a game's file; the claim must be held.

        Raise `InputError` if the file's modification time is not ``changed``, in nanoseconds.
        """
        path = self._file(claim.key)
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime_ns != changed:
                raise InputError(
                    claim.key, "this game has changed meanwhile; open it before you delete it"
                )
            path.unlink()

    def entries(self, query: str = "", labels: Mapping[str, str] | None = None) -> list[Entry]:
        """Return the games that contain all words of a query, most recently changed first.

        ``labels`` are the words that the page shows for the keys of `Entry.labels`. `InputError` if
        the query has more than `MAX_WORDS` different words.
        """
        words = set(query.lower().split())
        if len(words) > MAX_WORDS:
            raise InputError(query, f"expected at most {MAX_WORDS} different words to search for")
        shown = {key: text.lower() for key, text in (labels or {}).items()}
        matches = []
        for entry in self._entries():
            text = " ".join((entry.words, *(shown.get(key, "") for key in entry.labels)))
            if all(word in text for word in words):
                matches.append(entry)
        return sorted(matches, key=lambda entry: (entry.changed, entry.key), reverse=True)

    def text(
        self, query: str = "", keys: Collection[str] = (), labels: Mapping[str, str] | None = None
    ) -> str:
        """Return the games that contain all words of a query as one PGN text, oldest first.

        If ``keys`` is not empty, return only the games with these keys.
        """
        chosen = set(keys)
        paths = [self.folder / (entry.key + _ENDING) for entry in self.entries(query, labels)
                 if not chosen or entry.key in chosen]
        texts = []
        for path in sorted(paths):
            with suppress(OSError, UnicodeError):  # Another program has changed the file.
                texts.append(_read(path))
        return "".join(texts)

    def scores(self) -> dict[str, list[int]]:
        """Return the user's wins, draws and losses against each level of merels."""
        scores: dict[str, list[int]] = {}
        with suppress(OSError):  # The folder cannot be read.
            for entry in self._entries():
                for level in entry.levels if entry.own else ():
                    results = scores.setdefault(level, [0, 0, 0])
                    results[("win", "draw", "loss").index(entry.own)] += 1
        return scores

    def _file(self, key: str) -> Path:
        return self.folder / (key + _ENDING)

    def _path(self, key: str) -> Path:
        """Return a game's file; raise `InputError` if there is no such game.

        A key comes from a request, so it is compared with the listed keys before it names a file.
        """
        if key not in {entry.key for entry in self._entries()}:
            raise InputError(key, f"no such game in {self.folder}; search again")
        return self._file(key)

    def _entries(self) -> Iterator[Entry]:
        """Yield every readable game, unsorted."""
        try:
            files = list(os.scandir(self.folder))
        except FileNotFoundError:
            return
        for key in set(self._cache) - {file.name.removesuffix(_ENDING) for file in files}:
            self._cache.pop(key, None)
        for file in files:
            if file.name.endswith(_ENDING):
                with suppress(OSError, UnicodeError):
                    changed = file.stat(follow_symlinks=False).st_mtime_ns
                    yield self._entry(Path(file.path), changed)

    def _entry(self, path: Path, changed: int) -> Entry:
        entry = self._cache.get(path.stem)
        if entry is None or entry.changed != changed:
            text = _read(path)
            tags = read_tags(text)
            words = " ".join((*tags.values(), *_COMMENT.findall(text))).lower()
            try:
                final = parse_record(text).final()
            except InputError:
                final = None
            entry = self._cache[path.stem] = Entry(path.stem, tags, changed, words, final)
        return entry


def _read(path: Path) -> str:
    """Return the text of a game's file; raise `OSError` for a link or other irregular file."""
    return decode(read_regular_file(path, LONGEST_GAME))
