"""Splitting of a file into games, and of a game into tokens.

Each character is examined a bounded number of times, so the time to read is proportional to the
length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

from merels.engine.common.errors import InputError, PlacedError, shorten
from merels.engine.common.messages import message
from merels.protocol.games.tree import RESULTS, TAG_NAME
from merels.protocol.games.writer import ROSTER

LONGEST_GAME = 1 << 24
"""Maximum length of a game, in characters: 16 MiB of ASCII text."""
DASHES = "-‐‑‒–—―−"
"""Hyphens, dashes and the minus sign."""

_RESULT = re.compile(
    rf"(?<![^\s\]}}).])(?:1 ?[{DASHES}:] ?0|0 ?[{DASHES}:] ?1"
    rf"|(?:1/2|½)(?: ?[{DASHES}:] ?(?:1/2|½))?"
    rf"|0?[.,]5[{DASHES}:]0?[.,]5|\*)"
    r"(?![^\s{};()[])"
)
"""A result as a separate word, in the spellings that people use.

A closing bracket or brace or a dot may precede it without a space, as in ``12.1-0``. A bracket, a
brace or a semicolon may follow.
"""
_TAG = re.compile(
    rf'\[\s*+(?P<name>{TAG_NAME})\s*+"(?P<value>(?>(?:[^"\\\n]|\\.|"(?![ \t]*+\]))*))"[ \t]*+\]'
)
"""A tag. Its value may contain quotes that are not escaped, as some programs write them."""
_PLAIN_TAGS = re.compile(rf'^\[({TAG_NAME}) "([^"\\\n]*+)"\]\n', re.M)
_KNOWN_TAGS = {name.lower(): name for name in (*ROSTER, "Variant", "FEN", "SetUp", "Termination")}
"""Names of the tags that are read in any case, by their lower case."""
_NEW_EVENT = re.compile(r'\[\s*+Event\s*+"')
_DELIMITER = re.compile(rf"[{{;()\[]|{_RESULT.pattern}")
"""The beginning of a comment, a variation or a tag, the end of a variation, or a result.

These determine where a game ends."""
_TOKEN = re.compile(
    r"(?P<space>\s++|(?<![^\n])%[^\n]*+)|;(?P<comment>[^\n]*+)|(?P<glyph>\$\d++)|(?P<bracket>[()])"
    r"|(?P<word>[^\s{};()\[\]$]++)"
)
_BRACE = re.compile(r"[{}]")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(slots=True)
class GameText:
    """The text of one game, and its tags."""

    line: int
    """Number of the game's first line in the file, from 1."""
    text: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    result_after_moves: str = ""
    """One of `RESULTS`, or '' if no result follows the moves."""

    @property
    def result(self) -> str:
        """The result, as `read_result` returns it."""
        return read_result(self.result_after_moves, self.tags)[0]


def as_result(word: str) -> str | None:
    """Return the result that a word or a tag's value spells, as one of `RESULTS`, or None."""
    word = "".join(word.split())
    if word in RESULTS:
        return word
    if not _RESULT.fullmatch(word):
        return None
    if word.startswith(("1/2", "½")) or "5" in word:
        return "1/2-1/2"
    return f"{word[0]}-{word[2]}"


def read_result(after_moves: str, tags: Mapping[str, str]) -> tuple[str, str]:
    """Return the result of a game, and a notice if its Result tag is invalid or contradicts it.

    ``after_moves`` is the result after the moves, or ''. It takes precedence over the tag unless it
    is ``*``. The notice is '' if there is nothing to report.
    """
    tag = tags.get("Result", "")
    stated = as_result(tag)
    result = after_moves if after_moves not in ("", "*") else stated or "*"
    notice = ""
    if stated is None and tag.strip("? -"):
        notice = message(
            "the Result tag '{tag}' is no result such as 1-0; the game counts as {result}",
            tag=shorten(tag), result=result,
        )
    elif after_moves and stated and after_moves != stated:
        notice = message(
            "the Result tag states {tag}, and the moves end with {end}; the game counts as "
            "{result}", tag=stated, end=after_moves, result=result,
        )
    return result, notice


def split_games(runs: Iterable[str], name: str = "text") -> Iterator[GameText]:
    """Yield the games of a file, given as lines or as runs of whole lines; no run is empty.

    A game ends after its result, or before tags that follow its moves. A result without moves or
    tags belongs to the game before it. `InputError` with the file's ``name`` if a game is longer
    than `LONGEST_GAME`.
    """
    splitter = _Splitter(name)
    number = 1
    for run in runs:
        yield from splitter.read(number, run)
        number += run.count("\n")
    if splitter.has_content:
        yield splitter.finish()


class _Splitter:
    """The state of `split_games`: the current game, its open comment and open variations."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begin(1)

    def _begin(self, number: int) -> None:
        """Begin a game in line ``number``."""
        self._game = GameText(number)
        self._parts: list[str] = []
        self._size = 0
        self._depth = 0
        """Number of open variations."""
        self._in_comment = self._in_moves = self._has_result = self._after_empty = False

    @property
    def has_content(self) -> bool:
        """Whether the current game has tags or moves."""
        return bool(self._game.tags) or self._in_moves

    def finish(self) -> GameText:
        """Return the current game."""
        self._game.text = "".join(self._parts)
        return self._game

    def read(self, number: int, text: str) -> Iterator[GameText]:
        """Read whole lines from line ``number`` on; yield the games that end before or in them."""
        if self._ends_before_line(text):
            yield self.finish()
            self._begin(number)
        if self._take_plain(text):
            return
        if "\n" in text[:-1]:  # Single lines may still be plain.
            for index, line in enumerate(StringIO(text)):
                yield from self.read(number + index, line)
        else:
            yield from self._take(number, text)

    def _ends_before_line(self, text: str) -> bool:
        """Return whether the game has its result and ends before the first line of ``text``.

        An empty line, the rest of a comment, or a further result, also after a comment, belongs to
        the game.
        """
        if not self._has_result or self._in_comment:
            return False
        line = text.partition("\n")[0].lstrip("\ufeff").strip()
        if not line:
            return False
        return as_result(line.partition("}")[2] if line[0] == "{" else line) is None

    def _take_plain(self, text: str) -> bool:
        """Read whole lines in the fast path; return False, and read nothing, if they need `_take`.

        The fast path reads lines that contain only tags new to the game, and lines of moves and
        comments that may end with the result.
        """
        if self._has_result or self._depth or self._size > LONGEST_GAME - len(text):
            return False
        if text[0] == "[" and not (self._in_moves or self._in_comment):
            tags = {tag_name(name): value for name, value in _PLAIN_TAGS.findall(text)}
            is_all_tags = text[-1] == "\n" and len(tags) == text.count("\n")
            if not is_all_tags or tags.keys() & self._game.tags.keys():
                return False
            self._game.tags.update(tags)
        elif not self._take_plain_moves(text):
            return False
        self._after_empty = False
        self._size += len(text)
        self._parts.append(text)
        return True

    def _take_plain_moves(self, text: str) -> bool:
        """Read lines of moves and comments in the fast path: update the state at their end.

        Return False, and read nothing, for lines that need `_take`.
        """
        ends_with_empty_line = text[-2:].isspace()
        if self._in_comment and self._after_empty or "\n[" in text or ends_with_empty_line:
            return False
        # In an open comment, the text before its end is a comment, too.
        moves, *comments = (("{" if self._in_comment else "") + text).split("{")
        in_comment = bool(comments) and "}" not in comments[-1]
        moves = " ".join([moves, *[comment.partition("}")[2] for comment in comments]])
        last = (moves.rsplit(None, 1) or [""])[-1]
        ended = last in RESULTS and not in_comment and text.endswith((last, last + "\n"))
        rest = moves[: moves.rindex(last)] if ended else moves
        # Searches for single texts are faster than one for `_DELIMITER`. The texts are the brackets
        # and semicolons that need `_take`, `%`, and parts of results.
        if not (last or self._in_moves) or not moves.isascii() or (
            "*" in rest or "1-0" in rest or "0-1" in rest or "5-0" in rest or "5-." in rest
            or "5-," in rest or "1/2" in rest or ":" in rest or "(" in rest or ")" in rest
            or "[" in rest or ";" in rest or "%" in rest or "- " in rest or " -" in rest
        ):
            return False
        self._in_moves, self._in_comment = True, in_comment
        if ended:
            self._has_result, self._game.result_after_moves = True, last
        return True

    def _take(self, number: int, line: str) -> Iterator[GameText]:
        """Read a line; yield the games that end before or in it."""
        if not self._in_comment:
            line = line.lstrip("\ufeff")  # Joined files have a byte order mark each.
        elif self._after_empty and _NEW_EVENT.match(line):
            # A comment that is never closed must not swallow the games after it.
            yield self.finish()
            self._begin(number)
        self._size += len(line)
        if self._size > LONGEST_GAME:
            expected = f"expected games of at most {LONGEST_GAME >> 20} MiB each"
            raise InputError(self._name, f"{expected} (line {number})")
        is_empty = line.isspace()
        if is_empty or line[:1] == "%" and not self._in_comment:
            self._parts.append(line)
        else:
            yield from self._take_delimiters(number, line)
        self._after_empty = is_empty

    def _take_delimiters(self, number: int, line: str) -> Iterator[GameText]:
        """Read a line from one `_DELIMITER` to the next; yield the games that end in it."""
        start = place = 0
        """Offset at which the current game begins in the line, and offset of the unread rest."""
        seeks_tags, at_start = True, not self._in_comment
        """Whether a bracket may begin a tag, and whether only white space was read so far."""
        if self._in_comment:
            place = line.find("}") + 1
            self._in_comment = not place
        while not self._in_comment:
            delimiter = _DELIMITER.search(line, place)
            end = delimiter.start() if delimiter else len(line)
            text = line[place:end].strip()
            is_bracket = delimiter is not None and delimiter[0] == "["
            tag = _TAG.match(line, end) if is_bracket and seeks_tags else None
            at_start = at_start and not text
            if self._has_result and (text or tag) or (tag and self._ends_before(tag, at_start)):
                yield self._split(number, line, start, place)
                start = place
            self._in_moves = self._in_moves or bool(text)
            if delimiter is None or delimiter[0] == ";":
                break
            place, at_start = delimiter.end(), False
            if delimiter[0] == "{":
                place = line.find("}", end) + 1
                self._in_comment = not place
            elif delimiter[0] == "[":
                # After a bracket that begins no tag, the rest of the line is not searched for tags.
                # Each failed match may read to the end of the line, so the time would be quadratic.
                seeks_tags = tag is not None
                self._in_moves = self._in_moves or not seeks_tags
                if tag is not None:
                    place = tag.end()
                    self._game.tags[tag_name(tag["name"])] = tag_value(tag)
            elif delimiter[0] == "(":
                self._depth += 1
                self._in_moves = True
            elif delimiter[0] == ")":
                self._depth = max(self._depth - 1, 0)
            else:
                result = as_result(delimiter[0])
                assert result is not None, "any other delimiter is a result"
                self._parts += line[start:end], result  # The reader expects no spaces in it.
                start = place
                if not self._depth:
                    self._in_moves = self._has_result = True
                    if self._game.result_after_moves in ("", "*"):
                        self._game.result_after_moves = result
        self._parts.append(line[start:])

    def _split(self, number: int, line: str, start: int, end: int) -> GameText:
        """Finish the game whose last part is ``line[start:end]``, and begin the next game there."""
        self._parts.append(line[start:end])
        game = self.finish()
        self._begin(number)
        self._size = len(line) - end
        return game

    def _ends_before(self, tag: re.Match[str], at_start: bool) -> bool:
        """Return whether a tag belongs to the next game; ``at_start``: it begins its line."""
        if self._in_moves and (at_start or not self._depth):
            return True
        name, tags = tag_name(tag["name"]), self._game.tags
        if not at_start or name not in tags:
            return False
        # The next header may follow a header without moves at once, and begins with the same tag. A
        # single tag that is repeated begins no game.
        return self._after_empty or (len(tags) > 1 and name == next(iter(tags)))


def tag_name(text: str) -> str:
    """Return the name of a tag in its usual case, such as ``Result`` for ``result``."""
    return _KNOWN_TAGS.get(text.lower(), text)


def tag_value(tag: re.Match[str]) -> str:
    """Return a tag's value without the backslashes that escape characters."""
    value = tag["value"]
    return _ESCAPED.sub(r"\1", value) if "\\" in value else value


class Token(NamedTuple):
    """A token; its kind is ``tag``, ``comment``, ``glyph``, ``bracket`` or ``word``.

    ``line`` is its line number, ``name`` the name of a tag.
    """

    kind: str
    text: str
    line: int
    name: str = ""


def tokens(text: str, line: int) -> Iterator[Token]:
    """Yield the tokens of a game's text, whose first line has the number ``line``.

    `InputError` names text that is no token, and its line.
    """
    start = 0
    while start < len(text):
        first, end = text[start], -1
        if first == "{":
            brace = _comment_end(text, start)
            if brace >= 0:
                yield Token("comment", text[start + 1 : brace], line)
                end = brace + 1
        elif first == "[":
            if match := _TAG.match(text, start):
                yield Token("tag", tag_value(match), line, tag_name(match["name"]))
                end = match.end()
        elif match := _TOKEN.match(text, start):
            if (kind := match.lastgroup or "") != "space":
                yield Token(kind, match[kind], line)
            end = match.end()
        if end < 0:
            by_bracket = {
                "{": "expected a comment that ends with '}'",
                "[": 'expected a tag such as [White "A"]',
            }
            expected = by_bracket.get(first, "expected a move, a tag or a comment")
            rest = text[start:].split("\n", 1)[0]
            raise PlacedError(rest, expected, at_line(line))
        line += text.count("\n", start, end)
        start = end


def at_line(number: int | None) -> str:
    """Return a place for `PlacedError`."""
    return message("line {line}", line=number)


def read_tags(text: str) -> dict[str, str]:
    """Return the tags of a text's first game."""
    text = text.removeprefix("\ufeff")
    game = next(split_games([text]), None) if text else None
    return {} if game is None else game.tags


def _comment_end(text: str, start: int) -> int:
    """Return the offset of the brace that ends the comment at ``start``, or -1.

    Usually that is the first closing brace. For each opening brace inside the comment, one further
    closing brace belongs to the comment if it comes before the next opening brace.
    """
    end = text.find("}", start)
    if end < 0:
        return end
    for _ in range(text.count("{", start + 1, end)):
        brace = _BRACE.search(text, end + 1)
        if brace is None or brace[0] == "{":
            break
        end = brace.start()
    return end
