"""Game records: PGN in form, with merels moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import (
    START,
    format_position,
    join_steps,
    parse_move,
    parse_position,
)
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import DEFAULT_VARIANT, Rules, parse_rules

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in their order."""
LINE = 80
"""Characters of a line of moves."""

_TOKEN = re.compile(
    r"""\s+|\[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\]|\\.)*)"\s*\]
    |\{(?P<comment>[^}]*)\}|;(?P<line>[^\n]*)|\d+\.+|\$\d+|(?P<word>[^\s{};\[\]]+)""",
    re.VERBOSE,
)


@dataclass
class Record:
    """A game: its tags, its first position, its moves, a comment for each move, its result.

    ``comments[i]`` follows ``moves[i]`` and may be empty; ``opening_comment`` stands before
    the first move. ``start`` carries the rules.
    """

    start: Position = field(default_factory=Position)
    moves: list[Move] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    result: str = "*"
    tags: dict[str, str] = field(default_factory=dict)
    opening_comment: str = ""

    def positions(self) -> Iterator[Position]:
        """Every position of the game, the first one included."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.play(move)
            yield position

    def final(self) -> Position:
        """The position after the last move."""
        *_, position = self.positions()
        return position


def format_record(record: Record) -> str:
    """The record as text that ends with an empty line."""
    tags = {name: "?" for name in ROSTER} | {"Date": "????.??.??"} | record.tags
    tags["Result"] = record.result
    tags["Variant"] = str(record.start.rules)
    first = format_position(record.start)
    if first != START:
        tags |= {"FEN": first, "SetUp": "1"}
    lines = [f'[{name} "{_quote(value)}"]' for name, value in tags.items()]
    return "\n".join(lines) + "\n\n" + "\n".join(_wrap(" ".join(_words(record)))) + "\n\n"


def _wrap(text: str) -> Iterator[str]:
    """Words, one space between them, as lines of at most `LINE` characters; long words are kept."""
    start = 0
    while len(text) - start > LINE:
        end = text.rfind(" ", start, start + LINE + 1)
        if end < 0 and (end := text.find(" ", start)) < 0:
            break
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _words(record: Record) -> Iterator[str]:
    """The movetext, word by word: numbers, moves, comments, result."""
    number, side = record.start.number, record.start.side
    if record.opening_comment:
        yield _brace(record.opening_comment)
    numbered = False
    for index, move in enumerate(record.moves):
        if side == WHITE or not numbered:
            yield f"{number}." if side == WHITE else f"{number}..."
        yield str(move)
        numbered = True
        comment = record.comments[index] if index < len(record.comments) else ""
        if comment:
            yield _brace(comment)
        number, side = number + side, 1 - side
    yield record.result


def _brace(comment: str) -> str:
    """A comment in braces; the one character that would end it early is replaced."""
    return "{" + printable(" ".join(comment.replace("}", ")").split())) + "}"


def _quote(value: str) -> str:
    """A tag's value with its quotes and backslashes escaped, on one line."""
    if not value.isprintable():
        value = "".join(c if c.isprintable() else " " for c in value)
    return value.replace("\\", r"\\").replace('"', r"\"")


def parse_records(text: str, rules: Rules | None = None, line: int = 1) -> Iterator[Record]:
    """The records of a text, one after another.

    ``rules`` hold for records without a Variant tag. `InputError` names the token that makes no
    sense, and its line, where ``line`` is the text's first.
    """
    pieces = _Pieces()
    for token, line in _scan(text, line):
        word, comment = token["word"], token["comment"] or token["line"]
        if token["tag"] is not None:
            if pieces.tokens:
                yield pieces.build("*", rules)
                pieces = _Pieces()
            pieces.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"])
            pieces.tag_lines[token["tag"]] = line
        elif comment:
            pieces.comments.setdefault(len(pieces.tokens), []).extend(comment.split())
        elif word in RESULTS:
            yield pieces.build(word, rules)
            pieces = _Pieces()
        elif word is not None:
            pieces.tokens.append((word, line))
    if pieces.tags or pieces.tokens:
        yield pieces.build("*", rules)


def parse_record(text: str, rules: Rules | None = None, line: int = 1) -> Record:
    """The one record of a text."""
    records = parse_records(text, rules, line)
    record = next(records, None)
    if record is None:
        raise InputError(text, "expected a game record")
    if next(records, None) is not None:
        raise InputError(text, "expected one game record, found several")
    return record


def _scan(text: str, line: int) -> Iterator[tuple[re.Match[str], int]]:
    """Each tag, comment and word of a text, with its line; the text begins in ``line``."""
    place = 0
    text = text.removeprefix("\ufeff")
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place:].split("\n")[0]
            what = {"{": "a comment that ends with '}'", "[": 'a tag such as [White "A"]'}
            expected = what.get(text[place], "a move, a tag or a comment")
            raise InputError(rest, f"expected {expected} in line {line}")
        yield match, line
        line += text.count("\n", place, match.end())
        place = match.end()


@dataclass
class _Pieces:
    """A record as it is read: tags and moves with their lines, comments by the next move."""

    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    tokens: list[tuple[str, int]] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)

    def build(self, result: str, default: Rules | None) -> Record:
        """The record, with every move checked."""
        rules = default or parse_rules(DEFAULT_VARIANT)
        if "Variant" in self.tags:
            with _where(f"tag Variant, line {self.tag_lines['Variant']}"):
                rules = parse_rules(self.tags["Variant"])
        with _where(f"tag FEN, line {self.tag_lines.get('FEN')}"):
            start = parse_position(self.tags.get("FEN", START), rules)
        record = Record(start, result=result, tags=self.tags)
        record.opening_comment = " ".join(self.comments.get(0, []))
        with _where(f"line {self.tokens[0][1]}" if self.tokens else ""):
            starts = list(join_steps([token for token, _ in self.tokens]))
        ends = [index for index, _ in starts[1:]] + [len(self.tokens)]
        position = start
        for (index, token), end in zip(starts, ends):
            with _where(f"line {self.tokens[index][1]}"):
                move = parse_move(token)
                position = position.push(move)
            record.moves.append(move)
            words = [word for at in range(index + 1, end + 1) for word in self.comments.get(at, [])]
            record.comments.append(" ".join(words))
        return record


@contextmanager
def _where(place: str) -> Iterator[None]:
    """Add to an `InputError` where in the text it is."""
    try:
        yield
    except InputError as error:
        raise InputError(error.token, f"{error.expected} ({place})") from None
