"""Game records read from PGN in form, with merels moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, join_steps, parse_move, parse_position
from merels.engine.game.position import Position
from merels.engine.game.record import RESULTS, Record, Variation
from merels.engine.game.rules import DEFAULT_VARIANT, Rules, parse_rules

_TOKEN = re.compile(
    r"""\s+|\[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\]|\\.)*)"\s*\]
    |\{(?P<comment>[^}]*)\}|;(?P<line>[^\n]*)|\d+\.+|(?P<glyph>\$\d+)
    |(?P<word>[()]|[^\s{};\[\]()]+)""",
    re.VERBOSE,
)


def parse_records(text: str, rules: Rules | None = None, line: int = 1) -> Iterator[Record]:
    """The records of a text, one after another.

    ``rules`` hold for records without a Variant tag. `InputError` names the token that makes no
    sense, and its line, where ``line`` is the text's first.
    """
    pieces = _Pieces()
    for token, line in _scan(text, line):
        word, comment = token["word"], token["comment"] or token["line"]
        if token["tag"] is not None:
            if pieces.lines[0].tokens:
                yield pieces.build("*", rules)
                pieces = _Pieces()
            pieces.tags[token["tag"]] = _value(token)
            pieces.tag_lines[token["tag"]] = line
        elif comment:
            pieces.lines[-1].comment(comment)
        elif token["glyph"]:
            pieces.lines[-1].glyph(token["glyph"])
        elif word == "(":
            pieces.open(line)
        elif word == ")":
            pieces.close(line)
        elif word in RESULTS:
            # Some programs give a variation a result of its own.
            if len(pieces.lines) == 1:
                yield pieces.build(word, rules)
                pieces = _Pieces()
        elif word is not None:
            pieces.lines[-1].tokens.append((word, line))
    if pieces.begun:
        yield pieces.build("*", rules)


def read_tags(text: str) -> dict[str, str]:
    """The tags of a text's first record, whose moves are not looked at."""
    tags: dict[str, str] = {}
    with suppress(InputError):
        for token, _ in _scan(text, 1):
            if token["tag"] is not None:
                tags[token["tag"]] = _value(token)
            elif not token[0].isspace():
                break
    return tags


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


def _value(tag: re.Match[str]) -> str:
    """A tag's value without the backslashes of its quotes."""
    return re.sub(r"\\(.)", r"\1", tag["value"])


@dataclass
class _Line:
    """A line as it is read: moves, variations with their lines; the rest by the next move."""

    began: int = 0
    tokens: list[tuple[str, int]] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)
    variations: list[tuple[int, _Line]] = field(default_factory=list)
    """Each with the number of tokens before it."""

    def comment(self, text: str) -> None:
        """Take a comment on the last move."""
        self.comments.setdefault(len(self.tokens), []).extend(text.split())

    def glyph(self, glyph: str) -> None:
        """Take an annotation glyph of the last move, or of the first where none precedes it."""
        self.glyphs.setdefault(max(len(self.tokens), 1), []).append(glyph)

    def fill(
        self, line: Record | Variation, position: Position
    ) -> Iterator[tuple[_Line, Variation, Position]]:
        """Give a line its moves, all checked; its variations, each with its first position."""
        line.opening_comment = " ".join(self.comments.get(0, []))
        with _where(f"line {self.tokens[0][1]}" if self.tokens else ""):
            starts = list(join_steps([token for token, _ in self.tokens]))
        ends = [index for index, _ in starts[1:]] + [len(self.tokens)]
        variations = iter((*self.variations, (len(self.tokens) + 1, self)))
        place, variation = next(variations)
        for (index, token), end in zip(starts, ends):
            while place <= end:
                added = Variation()
                line.variations.setdefault(len(line.moves), []).append(added)
                yield variation, added, position
                place, variation = next(variations)
            with _where(f"line {self.tokens[index][1]}"):
                move = parse_move(token)
                position = position.push(move)
            steps = range(index + 1, end + 1)
            if glyphs := [glyph for at in steps for glyph in self.glyphs.get(at, [])]:
                line.glyphs[len(line.moves)] = glyphs
            line.moves.append(move)
            words = [word for at in steps for word in self.comments.get(at, [])]
            line.comments.append(" ".join(words))


@dataclass
class _Pieces:
    """A record as it is read: tags with their lines, and the lines of moves that are open."""

    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    lines: list[_Line] = field(default_factory=lambda: [_Line()])

    @property
    def begun(self) -> bool:
        """Whether there is anything of a record."""
        return bool(self.tags or self.lines[0].tokens or len(self.lines) > 1)

    def open(self, line: int) -> None:
        """Begin a variation."""
        parent = self.lines[-1]
        if not parent.tokens:
            raise InputError("(", f"expected a move before the variation (line {line})")
        self.lines.append(_Line(line))
        parent.variations.append((len(parent.tokens), self.lines[-1]))

    def close(self, line: int) -> None:
        """End a variation."""
        if len(self.lines) == 1 or not self.lines[-1].tokens:
            expected = "'(' and a move before the end of a variation"
            raise InputError(")", f"expected {expected} (line {line})")
        self.lines.pop()

    def build(self, result: str, default: Rules | None) -> Record:
        """The record, with every move checked."""
        if len(self.lines) > 1:
            began = self.lines[-1].began
            raise InputError("(", f"expected ')' after the variation (line {began})")
        rules = default or parse_rules(DEFAULT_VARIANT)
        if "Variant" in self.tags:
            with _where(f"tag Variant, line {self.tag_lines['Variant']}"):
                rules = parse_rules(self.tags["Variant"])
        with _where(f"tag FEN, line {self.tag_lines.get('FEN')}"):
            start = parse_position(self.tags.get("FEN", START), rules)
        record = Record(start, result=result, tags=self.tags)
        lines: list[tuple[_Line, Record | Variation, Position]] = [(self.lines[0], record, start)]
        while lines:
            pieces, line, position = lines.pop()
            lines += pieces.fill(line, position)
        return record


@contextmanager
def _where(place: str) -> Iterator[None]:
    """Add to an `InputError` where in the text it is."""
    try:
        yield
    except InputError as error:
        raise InputError(error.token, f"{error.expected} ({place})") from None
