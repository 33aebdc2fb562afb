"""Game records read from PGN in form, as merels and other programs write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, parse_move, parse_position
from merels.engine.game.pgn.tokens import GameText, as_result, split_games, tokens
from merels.engine.game.position import Move, Position
from merels.engine.game.record import Record, Variation
from merels.engine.game.rules import DEFAULT_VARIANT, Rules, parse_rules

_NUMBER = re.compile(r"\d*+[.…]++")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the moves of a record are spelled."""

    read: Callable[[str], Move] = parse_move
    explain: Callable[[str], str] = str
    """Rewrites a reason in the spelling of the record."""


def parse_records(
    text: str, rules: Rules | None = None, line: int = 1, spelling: Spelling = Spelling()
) -> Iterator[Record]:
    """Yield the records of a text, one after another.

    ``rules`` hold for records without a Variant tag. `InputError` names the token that makes no
    sense, and its line, where ``line`` is the text's first.
    """
    for game in split_games(StringIO(text.removeprefix("\ufeff"), newline=None)):
        game.line += line - 1
        yield build_record(game, rules, spelling)


def parse_record(
    text: str, rules: Rules | None = None, line: int = 1, spelling: Spelling = Spelling()
) -> Record:
    """Return the one record of a text."""
    records = parse_records(text, rules, line, spelling)
    record = next(records, None)
    if record is None:
        raise InputError(text, "expected a game record")
    if next(records, None) is not None:
        raise InputError(text, "expected one game record, found several")
    return record


def build_record(
    game: GameText, rules: Rules | None = None, spelling: Spelling = Spelling()
) -> Record:
    """Return the record of a game's text, with every move checked."""
    reader = _Reader(spelling)
    for kind, text, line, name in tokens(game.text, game.line):
        if kind == "tag":
            reader.tags[name] = text
            reader.tag_lines[name] = line
        elif kind == "comment":
            reader.lines[-1].comment(text)
        elif kind == "glyph":
            reader.lines[-1].glyph(text)
        elif text == "(":
            reader.open(line)
        elif text == ")":
            reader.close(line)
        else:
            reader.word(text, line)
    return reader.build(rules)


class _Word(NamedTuple):
    """A move or a part of one, as the text spells it and in plain letters."""

    text: str
    plain: str
    line: int


@dataclass
class _Line:
    """A line as it is read: words, variations with their lines; the rest by the next word."""

    began: int = 0
    words: list[_Word] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)
    variations: list[tuple[int, _Line]] = field(default_factory=list)
    """Each with the number of words before it."""

    def comment(self, text: str) -> None:
        """Take a comment on the last move."""
        self.comments.setdefault(len(self.words), []).extend(text.split())

    def glyph(self, glyph: str) -> None:
        """Take an annotation glyph of the last move, or of the first where none precedes it."""
        self.glyphs.setdefault(max(len(self.words), 1), []).append(glyph)

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield where each move begins and ends among the words.

        A removal may be a word of its own (``d6-d5 xc3``).
        """
        start = 0
        for end in range(1, len(self.words) + 1):
            if end == len(self.words) or self.words[end].plain[0] != "x":
                yield start, end
                start = end

    def fill(
        self, line: Record | Variation, position: Position, spelling: Spelling
    ) -> Iterator[tuple[_Line, Variation, Position]]:
        """Give a line its moves, all checked; yield its variations with their first positions."""
        line.opening_comment = " ".join(self.comments.get(0, []))
        variations = iter((*self.variations, (len(self.words) + 1, self)))
        place, variation = next(variations)
        for start, end in self.moves():
            while place <= end:
                added = Variation()
                line.variations.setdefault(len(line.moves), []).append(added)
                yield variation, added, position
                place, variation = next(variations)
            move = _read_move(self.words[start:end], position, spelling)
            position = position.play(move)
            steps = range(start + 1, end + 1)
            if glyphs := [glyph for at in steps for glyph in self.glyphs.get(at, [])]:
                line.glyphs[len(line.moves)] = glyphs
            line.moves.append(move)
            words = [word for at in steps for word in self.comments.get(at, [])]
            line.comments.append(" ".join(words))


def _read_move(words: Sequence[_Word], position: Position, spelling: Spelling) -> Move:
    """Return the move that some words spell; `InputError` where it is not legal."""
    try:
        if words[0].plain[0] == "x":
            raise InputError("", "expected a move before the removal")
        move = spelling.read("".join(word.plain for word in words))
        objection = position.objection(move)
        if objection is not None:
            raise InputError("", f"illegal move, {objection}")
    except InputError as error:
        text = " ".join(word.text for word in words)
        expected = f"{spelling.explain(error.expected)} (line {words[0].line})"
        raise InputError(text, expected) from None
    return move


@dataclass
class _Reader:
    """A record as it is read: tags with their lines, the lines of moves that are open, a result."""

    spelling: Spelling
    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    lines: list[_Line] = field(default_factory=lambda: [_Line()])
    result: str = "*"

    def word(self, text: str, line: int) -> None:
        """Take a word of the moves: a number, a move, a sign that judges it, or a result."""
        if number := _NUMBER.match(text):
            text = text[number.end() :]
        if result := as_result(text):
            # Some programs give a variation a result of its own.
            if len(self.lines) == 1:
                self.result = result
        elif text:
            self.lines[-1].words.append(_Word(text, text.lower(), line))

    def open(self, line: int) -> None:
        """Begin a variation."""
        parent = self.lines[-1]
        if not parent.words:
            raise InputError("(", f"expected a move before the variation (line {line})")
        self.lines.append(_Line(line))
        parent.variations.append((len(parent.words), self.lines[-1]))

    def close(self, line: int) -> None:
        """End a variation."""
        if len(self.lines) == 1 or not self.lines[-1].words:
            expected = "'(' and a move before the end of a variation"
            raise InputError(")", f"expected {expected} (line {line})")
        self.lines.pop()

    def build(self, default: Rules | None) -> Record:
        """Return the record, with every move checked."""
        if len(self.lines) > 1:
            began = self.lines[-1].began
            raise InputError("(", f"expected ')' after the variation (line {began})")
        rules = default or parse_rules(DEFAULT_VARIANT)
        if "Variant" in self.tags:
            with _where(f"tag Variant, line {self.tag_lines['Variant']}"):
                rules = parse_rules(self.tags["Variant"])
        with _where(f"tag FEN, line {self.tag_lines.get('FEN')}"):
            start = parse_position(self.tags.get("FEN", START), rules)
        record = Record(start, result=self.result, tags=self.tags)
        lines: list[tuple[_Line, Record | Variation, Position]] = [(self.lines[0], record, start)]
        while lines:
            pieces, line, position = lines.pop()
            lines += pieces.fill(line, position, self.spelling)
        return record


@contextmanager
def _where(place: str) -> Iterator[None]:
    """Add to an `InputError` where in the text it is."""
    try:
        yield
    except InputError as error:
        raise InputError(error.token, f"{error.expected} ({place})") from None
