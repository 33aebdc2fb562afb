"""The reader of files of games, positions or rule sets: what a text is, and its entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from typing import Protocol

from merels.engine.common.errors import InputError, placed
from merels.engine.common.messages import joined
from merels.engine.game.rules import PRESETS, Rules, parse_rules
from merels.protocol.common.files import file_error, read_lines, shown_path
from merels.protocol.common.text_file import without_end_mark
from merels.protocol.formats.forms import GAMES, POSITIONS, RULES
from merels.protocol.formats.mfen import read_position
from merels.protocol.formats.pgn.reader import build_record
from merels.protocol.formats.pgn.tokens import GameText, as_result, split_games
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record

KINDS = {
    **dict.fromkeys(POSITIONS, "positions"), **dict.fromkeys(GAMES, "games"), RULES: "rules"
}
"""By form, what a file in that form has, as `recognise` names it."""
JOURNAL = "journal"
"""The form of a file that `merels tournament` writes."""
HEAD_LENGTH = 1 << 12
"""Length of the beginning of a text that `recognise` examines, in characters."""
READABLE_FORMS = (
    "expected games (PGN, PlayOK's numbers, lists of moves), positions (6 fields, 17 fields, "
    "MFEN/1.0), or rule sets"
)
"""The forms that merels reads, for messages."""
_FORM_NAMES = {"six": "six fields", "seventeen": "17 fields", "mfen": "MFEN"}
_GOLDTOKEN = re.compile(
    r"(?mi)\AGoldToken|^[ \t]*+(?:\d++[.)]?+[ \t]++)?(?:Place to [a-g][1-7]|[a-g][1-7] -> [a-g])"
)
_RINGS = re.compile(r"[O@*/]++|MFEN/\S*+", re.IGNORECASE)
"""The first word of a position, even if other fields are missing."""
_JSON = re.compile(r'\{\s*+(?:"[^"\n]*+"\s*+:|\})')
"""The beginning of a JSON object, which could also be a comment of a game."""
_GAME = re.compile(r"[\[{(;%$.…*½]|[0-9]|[a-gA-G][1-7]|[!?‼⁇⁈⁉]")


class FileItem(Protocol):
    """A game, position or rule set of a file, which has not been read yet."""

    @property
    def number(self) -> int:
        """Number of the game, or of the line, from 1."""

    @property
    def place(self) -> str:
        """The place for messages, such as ``game 3 of a.pgn``; '' for none."""

    def read(self, rules: RecordRules, form: str | None = None) -> Record | Rules:
        """Return the game, the position as a record without moves, or the rule set.

        ``rules`` apply to text that names no rules; ``form`` is one of `KINDS`, None for any.
        `InputError` names an invalid token and its place.
        """


Journals = Callable[[str, bool], Iterator[FileItem] | None]
"""Returns the games of a journal, or None if the file is none; True expects a journal."""


@dataclass(frozen=True, slots=True)
class GameItem:
    """A game whose tags are known, and whose moves have not been read yet."""

    number: int
    text: GameText
    place: str

    def read(self, rules: RecordRules, form: str | None = None) -> Record:
        """Return the record of the game, see `FileItem`."""
        by_number = None if form is None else form == "playok"
        return build_record(self.text, rules, by_number, self.place)


@dataclass(frozen=True, slots=True)
class LineItem:
    """A line with a position or a rule set."""

    number: int
    text: str
    comment: str
    """The text after a semicolon, or ''."""
    place: str
    kind: str
    """``positions`` or ``rules``."""

    def read(self, rules: RecordRules, form: str | None = None) -> Record | Rules:
        """Return the rule set, or the position as a record without moves; see `FileItem`."""
        text = self.text
        count = len(text.split())
        actual = "mfen" if text[:4].upper() == "MFEN" else "six" if count == 6 else "seventeen"
        try:
            if self.kind == RULES:
                return parse_rules(text)
            if form not in (None, actual):
                raise InputError(text, f"expected a position as {_FORM_NAMES[form or actual]}")
            return Record(read_position(text, rules.default))
        except InputError as error:
            raise placed(error, self.place) from None


def read_file(
    path: str, form: str | None = None, journals: Journals = lambda path, expected: None, *,
    games_only: bool = False,
) -> Iterator[FileItem]:  # fmt: skip
    """Return the games, positions or rule sets of a file; ``-`` is standard input.

    ``form`` is a key of `KINDS`, or `JOURNAL`; None detects the form. ``journals`` reads journals.
    `InputError` for a form that merels does not read, for a file without content, and with
    ``games_only`` for a file of positions or rule sets.
    """
    expected = "games in this file" if games_only else "positions, games or rules here"
    found = journals(path, form == JOURNAL) if form in (None, JOURNAL) else None
    if found is None:
        lines: Iterable[str] = read_lines(path)
        kind = KINDS[form] if form is not None else ""
        if form is None:
            kind, lines = recognise(lines, shown_path(path))
        if games_only and kind not in ("", "games"):
            raise file_error(path, f"expected {expected}, found {kind}")
        file = shown_path(path)
        is_games = kind in ("", "games")
        found = find_games(lines, file) if is_games else find_lines(lines, kind, file)
    first = next(found, None)
    if first is None:
        raise file_error(shown_path(path), f"expected {expected}, found none")
    return chain((first,), found)


def find_games(lines: Iterable[str], file: str = "") -> Iterator[GameItem]:
    """Yield the games of a text, one at a time; ``file`` is its name, '' for pasted text."""
    for number, text in enumerate(split_games(lines, file or "text"), 1):
        yield GameItem(number, text, f"game {number}" + (f" of {file}" if file else ""))


def find_lines(lines: Iterable[str], kind: str, file: str = "") -> Iterator[LineItem]:
    """Yield the lines of a text that are not empty; a semicolon begins a comment."""
    for number, line in enumerate(lines, 1):
        text, _, comment = line.partition(";")
        if text := text.strip():
            place = f"line {number} of {file}" if file else ""
            yield LineItem(number, text, comment.strip(), place, kind)


def pasted(text: str) -> list[FileItem]:
    """Return the games of a typed or pasted text, or its only position.

    `InputError` for any other text. A place is given only if there are several games.
    """
    kind, lines = recognise(
        StringIO(without_end_mark(text.removeprefix("\ufeff")), newline=None)
    )
    if kind == "positions":
        position, *others = find_lines(lines, kind)
        if others:
            raise InputError(others[0].text, f"expected one position, found {len(others) + 1}")
        return [position]
    games = list(find_games(lines)) if kind == "games" else []
    if not games:
        actual = "this is a rule set" if kind == "rules" else ""
        expected = joined("; ", ("expected a position or a game record", actual))
        raise InputError(text.strip(), expected)
    return list(games) if len(games) > 1 else [GameItem(1, games[0].text, "")]


def recognise(lines: Iterable[str], file: str = "") -> tuple[str, Iterator[str]]:
    """Return the kind of a text, ``games``, ``positions`` or ``rules``, and all its lines.

    The kind is '' if the text has only comments and empty lines. `InputError` quotes the first
    words of a text in another form, and lists the forms that merels reads.
    """
    unread = iter(lines)
    before_head: list[str] = []
    head: list[str] = []
    size = 0
    for line in unread:
        if not head and not _content(line):
            before_head.append(line)
            continue
        head.append(line)
        size += len(line)
        if size >= HEAD_LENGTH:
            break
    if not head:
        return "", iter(before_head)
    try:
        kind = _kind_of("".join(head)[:HEAD_LENGTH].lstrip("\ufeff\u200b \t\r\n"))
    except InputError as error:
        line_number = f"line {len(before_head) + 1}"
        raise placed(error, f"{line_number} of {file}" if file else line_number) from None
    return kind, chain(before_head, head, unread)


def _content(text: str) -> str:
    """Return the first line with text before its comment, which ``;`` begins; or ''."""
    contents = (line.partition(";")[0].strip() for line in text.splitlines())
    return next(filter(None, contents), "")


def _kind_of(text: str) -> str:
    """Return the kind of a text from its beginning; `InputError` for an unknown form."""
    line = _content(text)
    word = line.split(None, 1)[0] if line else text[:1]
    if _GOLDTOKEN.search(text):
        raise InputError(line, f"GoldToken's notation; {READABLE_FORMS}")
    if word.lower() in PRESETS:
        return "rules"
    # The first word of a game contains a slash only in a result, a tag or a comment.
    is_position = _RINGS.fullmatch(word) or len(line.split()) in (6, 17, 18)
    if "/" in word and is_position and as_result(word) is None and word[0] not in "[{;(%":
        return "positions"
    if _GAME.match(word) and not _JSON.match(text):
        return "games"
    raise InputError(line, READABLE_FORMS)
