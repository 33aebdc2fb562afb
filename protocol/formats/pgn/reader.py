"""Game records read from PGN in form, as merels and other programs write it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from typing import NamedTuple

from merels.engine.common.errors import InputError, PlacedError, placed
from merels.engine.game.notation import START, parse_move
from merels.engine.game.position import COUNTING_RULES, Move, Position
from merels.engine.game.rules import DEFAULT_RULES, FIELDS, Rules
from merels.protocol.formats.mif_1_0.mfen import read_position
from merels.protocol.formats.pgn.tokens import DASHES, GameText, as_result, split_games, tokens
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Node, Record, place_of

_NUMBER = re.compile(r"\d*+[.…]++")
_PLAIN = str.maketrans(
    {dash: "-" for dash in DASHES} | {cross: "x" for cross in "×✕✖"}
    | {"‼": "!!", "⁇": "??", "⁈": "?!", "⁉": "!?", "！": "!", "？": "?"}
)
_INVISIBLE = {0x200B: None, 0xFEFF: None}
"""Characters without a width, which come along from pages of the web."""
_SUFFIX = "!?‼⁇⁈⁉！？"
GLYPHS = {
    "!": "$1", "?": "$2", "!!": "$3", "??": "$4", "!?": "$5", "?!": "$6",
    "□": "$7", "=": "$10", "∞": "$13", "⩲": "$14", "+=": "$14", "⩱": "$15", "=+": "$15",
    "±": "$16", "+/-": "$16", "∓": "$17", "-/+": "$17", "+-": "$18", "-+": "$19",
}  # fmt: skip
"""Numeric annotation glyphs by the signs that stand for them."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the moves of a record are spelled."""

    read: Callable[[str], Move] = parse_move
    explain: Callable[[str], str] = str
    """Rewrites the reason of an error in the spelling of the record."""
    in_digits: bool = False
    """Whether a word of digits is a move; if not, it is the number of one."""


def parse_records(
    text: str, rules: Rules | None = None, line: int = 1, spelling: Spelling = Spelling()
) -> Iterator[Record]:
    """Yield the records of a text, one after another.

    ``rules`` hold for records without a Variant tag. `InputError` names the token that makes no
    sense, and its line, where ``line`` is the text's first.
    """
    for game in split_games(StringIO(text.removeprefix("\ufeff"), newline=None)):
        game.line += line - 1
        yield build_record(game, RecordRules(rules or DEFAULT_RULES), spelling)


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
    game: GameText, rules: RecordRules, spelling: Spelling = Spelling(), place: str = ""
) -> Record:
    """Return the record of a game's text, with every move checked.

    ``place`` is the game's place in its file, for errors.
    """
    reader = _Reader(rules, spelling)
    try:
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
        return reader.build()
    except InputError as error:
        raise placed(error, place) from None


def check_record(record: Record, rules: RecordRules) -> None:
    """Raise an `InputError` where a record's moves are illegal; note a draw that they pass."""
    position = record.start
    for plies, move in enumerate(record.moves):
        try:
            position = _go_on(position, record, plies)
            _check_move(move, position, rules)
        except InputError as error:
            reason = InputError(str(move), error.expected)
            raise placed(reason, place_of(record.start, plies)) from None
        position = position.play(move)


def _go_on(position: Position, record: Record | None, plies: int) -> Position:
    """Return the position in which the next move is read, one that no counting rule draws.

    The first such draw and its number of ``plies`` are noted in the ``record``. `InputError` if the
    game is over.
    """
    outcome = position.outcome()
    if outcome is None:
        return position
    if outcome.reason not in COUNTING_RULES:
        raise InputError("", f"expected no move after the end of the game: {outcome}")
    if record is not None and record.drawn is None:
        record.drawn = plies, outcome
    return position.played_on()


def _check_move(move: Move, position: Position, rules: RecordRules) -> None:
    """Raise an `InputError` where a move is illegal; it names a setting that makes it legal."""
    objection = position.objection(move)
    if objection is not None:
        setting = next(_settings_that_allow(move, position), "")
        way_out = f"; it is legal with {rules.setting(setting)}" if setting else ""
        raise InputError("", f"illegal move, {objection}{way_out}")


def _settings_that_allow(move: Move, position: Position) -> Iterator[str]:
    """Yield the settings of single rules under which a move is legal."""
    for rule in FIELDS:
        for choice in rule.choices:
            rules = position.rules.with_field(rule.name, choice)
            if position.under(rules).is_legal(move):
                yield f"{rule.name}={choice}"


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
    numbers: dict[int, list[_Word]] = field(default_factory=dict)
    """Move numbers without a dot."""
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

        A removal may be a word of its own (``d6-d5 xc3``), and so may the signs (``b2 x f4``).
        """
        start = 0
        for end in range(1, len(self.words) + 1):
            if end < len(self.words):
                if self.words[end].plain[0] in "x-" or self.words[end - 1].plain[-1] in "x-":
                    continue
            yield start, end
            start = end

    def fill(
        self, node: Node, position: Position, reader: _Reader
    ) -> Iterator[tuple[_Line, Node, Position]]:
        """Add the moves after a node to the record, all checked; yield the line's variations.

        Each comes with the node, and its position, in which it begins.
        """
        record, is_main = reader.record, self is reader.lines[0]
        before = self.comments.get(0, [])
        if is_main:
            node.annotate(" ".join(before))
            before = []
        variations = iter((*self.variations, (len(self.words) + 1, self)))
        place, variation = next(variations)
        for begin, end in self.moves():
            while place <= end:
                yield variation, node, position
                place, variation = next(variations)
            if self.numbers:
                self._check_numbers(begin, end, position, record.start.number)
            try:
                position = _go_on(position, record if is_main else None, node.ply)
                move = self._read(begin, end, reader.spelling)
                _check_move(move, position, reader.rules)
            except InputError as error:
                words = self.words[begin:end]
                text = " ".join(word.text for word in words)
                reason = InputError(text, reader.spelling.explain(error.expected))
                where = f"{place_of(record.start, node.ply)}, line {words[0].line}"
                raise placed(reason, where) from None
            position = position.play(move)
            steps = range(begin + 1, end + 1)
            comment = before + [word for at in steps for word in self.comments.get(at, ())]
            glyphs = [glyph for at in steps for glyph in self.glyphs.get(at, ())]
            before = []
            known = node.child(move)
            node = known or record.append(node, move)
            if known is not None:
                reader.repeated.setdefault(node, []).append((comment, glyphs))
            elif comment or glyphs:
                node.glyphs = glyphs
                node.annotate(" ".join(comment))
        if len(self.words) in self.numbers:
            self._check_numbers(len(self.words), 0, position, record.start.number)
        if not self.words:  # All moves of a game were taken back.
            yield from ((variation, node, position) for _, variation in self.variations)

    def _read(self, begin: int, end: int, spelling: Spelling) -> Move:
        """Return the move that some words spell."""
        if self.words[begin].plain[0] == "x":
            raise InputError("", "expected a move before the removal")
        return spelling.read("".join(word.plain for word in self.words[begin:end]))

    def _check_numbers(
        self, begin: int, end: int, position: Position, first_number: int
    ) -> None:
        """Raise an `InputError` where a number within the words of a move is not its own."""
        expected = position.number, position.number - first_number + 1
        for at in range(begin, max(end, begin + 1)):
            for number in self.numbers.get(at, ()):
                if at > begin or number.plain not in map(str, expected):
                    wanted = f"expected a move such as d6, or {expected[0]}, the next number"
                    raise PlacedError(number.text, wanted, f"line {number.line}")


@dataclass
class _Reader:
    """A record as it is read: tags with their lines, the lines of moves that are open, a result."""

    rules: RecordRules
    spelling: Spelling
    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    lines: list[_Line] = field(default_factory=lambda: [_Line()])
    result: str = ""
    record: Record = field(init=False)
    repeated: dict[Node, list[tuple[list[str], list[str]]]] = field(default_factory=dict)
    """Words of comments, and glyphs, of moves that variations repeat, any number of times."""

    def word(self, text: str, line: int) -> None:
        """Take a word of the moves: a number, a move, a sign that judges it, or a result."""
        text = text.translate(_INVISIBLE)
        if number := _NUMBER.match(text):
            text = text[number.end() :]
        current = self.lines[-1]
        if result := as_result(text):
            # Some programs give a variation a result of its own.
            if len(self.lines) == 1:
                self.result = result
            return
        plain = text if text.isascii() else text.translate(_PLAIN)
        if plain in GLYPHS:
            current.glyph(GLYPHS[plain])
        elif text.isascii() and text.isdigit() and not self.spelling.in_digits:
            current.numbers.setdefault(len(current.words), []).append(_Word(text, text, line))
        elif text:
            move = text.rstrip(_SUFFIX)
            if move and current.variations and not current.words:
                began = current.variations[0][1].began
                raise PlacedError("(", "expected a move before the variation", f"line {began}")
            if move:
                current.words.append(_Word(move, move.translate(_PLAIN).lower(), line))
            if suffix := text[len(move) :].translate(_PLAIN):
                current.glyph(GLYPHS.get(suffix) or GLYPHS[suffix[:2]])

    def open(self, line: int) -> None:
        """Begin a variation."""
        parent = self.lines[-1]
        if not parent.words and len(self.lines) > 1:
            raise PlacedError("(", "expected a move before the variation", f"line {line}")
        self.lines.append(_Line(line))
        parent.variations.append((len(parent.words), self.lines[-1]))

    def close(self, line: int) -> None:
        """End a variation."""
        current = self.lines[-1]
        if len(self.lines) == 1 and len(current.words) in current.numbers:
            return  # a number such as 1)
        if len(self.lines) == 1 or not current.words:
            expected = "expected '(' and a move before the end of a variation"
            raise PlacedError(")", expected, f"line {line}")
        self.lines.pop()

    def build(self) -> Record:
        """Return the record, with every move checked."""
        if len(self.lines) > 1:
            began = self.lines[-1].began
            raise PlacedError("(", "expected ')' after the variation", f"line {began}")
        with _tag("Variant", self.tag_lines.get("Variant")):
            rules = self.rules.of(self.tags.get("Variant"))
        with _tag("FEN", self.tag_lines.get("FEN")):
            start = read_position(self.tags.get("FEN", START), rules)
        result = self.result or as_result(self.tags.get("Result", "")) or "*"
        self.record = record = Record(start, result=result, tags=self.tags)
        # Main lines come first, so that their moves are the first children.
        lines = deque(self.lines[0].fill(record.root, start, self))
        end = record.end()
        while lines:
            line, node, position = lines.popleft()
            lines += line.fill(node, position, self)
        for node, notes in self.repeated.items():
            glyphs = [*node.glyphs, *(glyph for _, glyphs in notes for glyph in glyphs)]
            node.glyphs = list(dict.fromkeys(glyphs))
            node.annotate(" ".join(word for words, _ in notes for word in words))
        if end.children:  # A variation begins with the last move.
            record.stop = end
        return record


@contextmanager
def _tag(name: str, line: int | None) -> Iterator[None]:
    """Add to an `InputError` the tag that it is in."""
    try:
        yield
    except InputError as error:
        raise placed(error, f"tag {name}, line {line}") from None
