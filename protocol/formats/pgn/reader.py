"""Reading of game records in PGN, as merels and other programs write it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from typing import NamedTuple

from merels.engine.common.errors import (
    InputError,
    PlacedError,
    placed,
    required_function,
    required_text,
)
from merels.engine.common.messages import joined, message
from merels.engine.game.notation import parse_move
from merels.engine.game.position import COUNTING_RULES, WHITE, Move, Position
from merels.engine.game.rules import FIELDS, Rules, required_rules
from merels.protocol.common.text_file import without_end_mark
from merels.protocol.formats.mfen import read_position
from merels.protocol.formats.pgn.tokens import (
    DASHES,
    GameText,
    as_result,
    at_line,
    read_result,
    split_games,
    tokens,
)
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.formats.playok import in_numbers, parse_playok_move
from merels.protocol.games.record import Record
from merels.protocol.games.tree import Node, place_of

_NUMBER = re.compile(r"\d*+[.…]++")
_PLAIN = str.maketrans(
    {dash: "-" for dash in DASHES} | {cross: "x" for cross in "×✕✖:"}
    | {"‼": "!!", "⁇": "??", "⁈": "?!", "⁉": "!?", "！": "!", "？": "?"}
)
_INVISIBLE = {0x200B: None, 0xFEFF: None}
"""Characters of zero width, which text copied from web pages may contain."""
_SUFFIX = "!?‼⁇⁈⁉！？"
GLYPHS = {
    "!": "$1", "?": "$2", "!!": "$3", "??": "$4", "!?": "$5", "?!": "$6",
    "□": "$7", "=": "$10", "∞": "$13", "⩲": "$14", "+=": "$14", "⩱": "$15", "=+": "$15",
    "±": "$16", "+/-": "$16", "∓": "$17", "-/+": "$17", "+-": "$18", "-+": "$19",
}  # fmt: skip
"""Numeric annotation glyphs by sign, such as ``$1`` for ``!``."""


def parse_records(
    text: str | Iterable[str], rules: Rules | None = None,
    on_error: Callable[[InputError], object] | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Yield the records of a text, or of a file that is open as text.

    A record whose first move is a number is read in PlayOK's notation. ``rules`` apply to records
    without a Variant tag. A game that cannot be read raises `InputError` with the invalid token,
    its line and the number of the game. With ``on_error``, the error is passed to this function
    instead, and the next game is read.
    """
    required_function(on_error, "on_error")
    record_rules = _record_rules(rules)
    for number, game in enumerate(_games(text), 1):
        try:
            yield build_record(game, record_rules, place=f"game {number}")
        except InputError as error:
            if on_error is None:
                raise
            on_error(error)


def _record_rules(rules: Rules | None) -> RecordRules:
    """Return the rules of records without a Variant tag; None stands for the default."""
    return RecordRules() if rules is None else RecordRules(required_rules(rules))


def _games(text: str | Iterable[str]) -> Iterator[GameText]:
    """Yield the games of a text or of an open file; their moves are not read."""
    if isinstance(text, (str, bytes)) or not isinstance(text, Iterable):
        text = required_text(text, "game records")
        if text.lower().endswith(".pgn") and "\n" not in text:
            raise InputError(text, "expected game records or an open file, not its name")
        text = StringIO(text, newline=None)
    return split_games(_without_marks(text))


def _without_marks(file: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file without its byte order mark and the end mark of DOS."""
    for number, line in enumerate(file):
        required_text(line, "a line of game records")
        line = without_end_mark(line if number else line.removeprefix("\ufeff"))
        if line:
            yield line


def parse_record(text: str | Iterable[str], rules: Rules | None = None) -> Record:
    """Return the only record of a text; see `parse_records`. `InputError` if there are several."""
    games = _games(text)
    game = next(games, None)
    if game is None:
        raise InputError(_start_of(text), "expected a game record")
    record = build_record(game, _record_rules(rules))
    if next(games, None) is not None:
        raise InputError(_start_of(text), "expected one game record, found several")
    return record


def _start_of(text: object) -> str:
    """Return the token of an error about a whole text: the text, or the name of an open file."""
    return text if isinstance(text, str) else str(getattr(text, "name", "text"))


def build_record(
    game: GameText, rules: RecordRules, by_number: bool | None = None, place: str = ""
) -> Record:
    """Return the record of a game's text; `InputError` names an invalid token and its place.

    ``by_number``: whether points have PlayOK's numbers instead of names; None decides by the first
    move. ``place`` is the game's place in its file, for messages.
    """
    reader = _Reader(rules, by_number)
    try:
        for kind, text, line, name in tokens(game.text, game.line):
            if kind == "tag":
                reader.tag(name, text, line)
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
    """Raise `InputError` for an illegal move of the main line; set ``record.drawn``."""
    position = record.start
    for plies, move in enumerate(record.moves):
        try:
            position = _continued(position, record, plies)
            _check_move(move, position, rules)
        except InputError as error:
            reason = InputError(str(move), error.expected)
            raise placed(reason, place_of(record.start, plies)) from None
        position = position.play(move)


def _continued(position: Position, record: Record | None, plies: int) -> Position:
    """Return ``position`` with rules under which the record's next move can be played.

    A record may continue after a draw by a counting rule, such as repetition. The first such draw
    and the ``plies`` before it are stored in ``record``. `InputError` if the game has ended for
    another reason.
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
    """Raise `InputError` for an illegal move, with a setting under which the move is legal."""
    objection = position.objection(move)
    if objection is not None:
        setting = next(_settings_that_allow(move, position), "")
        hint = ""
        if setting:
            hint = message("it is legal with {setting}", setting=rules.setting(setting))
        reason = message("illegal move, {reason}", reason=objection)
        raise InputError("", joined("; ", (reason, hint)))


def _settings_that_allow(move: Move, position: Position) -> Iterator[str]:
    """Yield each setting of one rule, such as ``Flying=own``, with which a move is legal."""
    for rule in FIELDS:
        for choice in rule.choices:
            rules = position.rules.with_field(rule.name, choice)
            if position.under(rules).is_legal(move):
                yield f"{rule.name}={choice}"


class _Word(NamedTuple):
    """A move or a part of a move: ``text`` as written, ``plain`` in lower case with ASCII signs."""

    text: str
    plain: str
    line: int


@dataclass
class _Line:
    """The main line or a variation while it is read, before its moves are checked.

    The keys of ``numbers``, ``comments`` and ``glyphs``, and the integers in ``variations``, are
    numbers of words that precede the entry.
    """

    first_line: int = 0
    """Number of the text line on which a variation begins."""
    words: list[_Word] = field(default_factory=list)
    numbers: dict[int, list[_Word]] = field(default_factory=dict)
    """Move numbers; ``text`` is the whole word, ``plain`` the number with its dots."""
    comments: dict[int, list[str]] = field(default_factory=dict)
    """Words of comments."""
    glyphs: dict[int, list[str]] = field(default_factory=dict)
    variations: list[tuple[int, _Line]] = field(default_factory=list)

    def comment(self, text: str) -> None:
        """Add a comment on the last move."""
        self.comments.setdefault(len(self.words), []).extend(text.split())

    def glyph(self, glyph: str) -> None:
        """Add an annotation glyph of the last move; before any move, of the first move."""
        self.glyphs.setdefault(max(len(self.words), 1), []).append(glyph)

    def moves(self) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each move's range of words.

        A removal may be a separate word (``d6-d5 xc3``), and so may ``-`` and ``x`` (``b2 x f4``).
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
        """Check the line's moves and append them after ``node``; yield the line's variations.

        Each variation is yielded with the node after which it begins, and that node's position.
        """
        record, is_main = reader.record, self is reader.lines[0]
        leading = self.comments.get(0, [])
        if is_main:
            node.annotate(" ".join(leading))
            leading = []
        # The last item is a sentinel, which no move reaches.
        variations = iter((*self.variations, (len(self.words) + 1, self)))
        words_before, variation = next(variations)
        for begin, end in self.moves():
            while words_before <= end:
                yield variation, node, position
                words_before, variation = next(variations)
            if self.numbers:
                self._check_numbers(begin, end, node.ply, position, reader)
            try:
                position = _continued(position, record if is_main else None, node.ply)
                move = self._read(begin, end, reader.by_number)
                _check_move(move, position, reader.rules)
            except InputError as error:
                words = self.words[begin:end]
                text = " ".join(word.text for word in words)
                expected = in_numbers(error.expected) if reader.by_number else error.expected
                reason = InputError(text, expected)
                at_move = placed(reason, place_of(record.start, node.ply))
                raise placed(at_move, at_line(words[0].line)) from None
            position = position.play(move)
            steps = range(begin + 1, end + 1)
            comment = leading + [word for step in steps for word in self.comments.get(step, ())]
            glyphs = [glyph for step in steps for glyph in self.glyphs.get(step, ())]
            leading = []
            existing = node.child(move)
            node = existing or record.append(node, move)
            if existing is not None:
                reader.repeated.setdefault(node, []).append((comment, glyphs))
            elif comment or glyphs:
                node.glyphs = glyphs
                node.annotate(" ".join(comment))
        self._check_numbers(len(self.words), 0, node.ply, position, reader)
        if is_main:
            reader.final = position
        if not self.words:  # If all moves of a game were taken back, it has only variations.
            yield from ((variation, node, position) for _, variation in self.variations)

    def _read(self, begin: int, end: int, by_number: bool | None) -> Move:
        """Return the move that a range of words spells."""
        if self.words[begin].plain[0] == "x":
            raise InputError("", "expected a move before the removal")
        text = "".join(word.plain for word in self.words[begin:end])
        return parse_playok_move(text) if by_number else parse_move(text)

    def counts_plies(self) -> bool:
        """Return whether the numbers count plies: 1 and 2 precede the first two moves."""
        begins = [begin for begin, _ in self.moves()]
        first = [self.numbers[begin][0].plain for begin in begins if begin in self.numbers]
        return len(first) == len(begins) and [text.rstrip(".") for text in first[:2]] == ["1", "2"]

    def _check_numbers(
        self, begin: int, end: int, plies: int, position: Position, reader: _Reader
    ) -> None:
        """Raise `InputError` for a number before or inside a move, unless it is the move's number.

        A number without a dot must precede the move; it is checked after the last move, too.
        """
        for index in range(begin, max(end, begin + 1)):
            for number in self.numbers.get(index, ()):
                expected = reader.numbers_of(plies, position)
                if number.plain == f"{expected[0]}.":
                    continue
                digits, dots = _split_number(number.plain)
                is_next = not digits or digits in map(str, expected)
                reason = ""
                if not dots and (index > begin or not is_next) and digits != "1":
                    reason = message(
                        "expected a move such as d6, or {number}, the next number",
                        number=expected[0],
                    )
                elif not is_next and (end or not dots):
                    again = "expected {number}, the number of the next move; the numbering " \
                        "starts again; end each game with its result or with *"
                    missing = "expected {number}, the number of the next move; is a move missing?"
                    reason = message(again if digits == "1" else missing, number=expected[0])
                elif end and not reader.by_ply and position.side == WHITE and (
                    "…" in dots or len(dots) > 2
                ):
                    reason = message(
                        "expected {number}. and White's move; is a move missing?",
                        number=expected[0],
                    )
                if reason:
                    raise PlacedError(number.text, reason, at_line(number.line))


def _split_number(text: str) -> tuple[str, str]:
    """Return the digits of a move number without leading zeros, and the dots after them."""
    digits = text.rstrip(".…")
    return digits.lstrip("0") or digits, text[len(digits) :]


@dataclass
class _Reader:
    """The state of `build_record`: tags, the stack of open lines of moves, and the result."""

    rules: RecordRules
    by_number: bool | None
    """See `build_record`."""
    tags: dict[str, str] = field(default_factory=dict)
    tag_lines: dict[str, int] = field(default_factory=dict)
    lines: list[_Line] = field(default_factory=lambda: [_Line()])
    result: str = ""
    record: Record = field(init=False)
    final: Position = field(init=False)
    """The position after the main line."""
    repeated: dict[Node, list[tuple[list[str], list[str]]]] = field(default_factory=dict)
    """Words of comments, and glyphs, of each variation that repeats an earlier move."""
    by_ply: bool = False
    """Whether each ply has a number of its own, as in ``1. a7 2. d1 3. d7``."""
    offsets: tuple[int, ...] = ()
    """Differences between the number of a move in its position and in the text."""

    def word(self, text: str, line: int) -> None:
        """Read a word of the movetext: a number, a move, an annotation sign or a result."""
        text = text.translate(_INVISIBLE)
        current = self.lines[-1]
        result = as_result(text)
        if result is None and (number := _NUMBER.match(text)):
            numbers = current.numbers.setdefault(len(current.words), [])
            numbers.append(_Word(text, number[0], line))
            text = text[number.end() :]
            result = as_result(text)
        if result:
            # Some programs write a result at the end of a variation, too.
            if len(self.lines) == 1 and self.result in ("", "*"):
                self.result = result
            return
        if self.by_number is None and text:
            # A list of moves may begin with the move number 1 without a dot.
            self.by_number = text[0].isdecimal() and (bool(current.numbers) or text != "1")
        plain = text if text.isascii() else text.translate(_PLAIN)
        if plain in GLYPHS:
            current.glyph(GLYPHS[plain])
        elif text.isascii() and text.isdigit() and not self.by_number:
            current.numbers.setdefault(len(current.words), []).append(_Word(text, text, line))
        elif text:
            move = text.rstrip(_SUFFIX)
            if move and current.variations and not current.words:
                place = at_line(current.variations[0][1].first_line)
                raise PlacedError("(", "expected a move before the variation", place)
            if move:
                current.words.append(_Word(move, move.translate(_PLAIN).lower(), line))
            if suffix := text[len(move) :].translate(_PLAIN):
                current.glyph(GLYPHS.get(suffix) or GLYPHS[suffix[:2]])

    def tag(self, name: str, value: str, line: int) -> None:
        """Add a tag; `InputError` for a second value of a tag that determines the moves."""
        if name in ("FEN", "Variant") and self.tags.get(name, value) != value:
            with _tag(name, line):
                raise InputError(value, f"expected one value, found '{self.tags[name]}' before it")
        self.tags[name] = value
        self.tag_lines[name] = line

    def open(self, line: int) -> None:
        """Begin a variation."""
        parent = self.lines[-1]
        if not parent.words and len(self.lines) > 1:
            raise PlacedError("(", "expected a move before the variation", at_line(line))
        self.lines.append(_Line(line))
        parent.variations.append((len(parent.words), self.lines[-1]))

    def close(self, line: int) -> None:
        """End a variation."""
        current = self.lines[-1]
        numbers = current.numbers.get(len(current.words))
        if len(self.lines) == 1 and numbers and numbers[-1].plain.isdigit():
            return  # The bracket is part of a move number such as 1)
        if len(self.lines) == 1 or not current.words:
            expected = "expected '(' and a move before the end of a variation"
            raise PlacedError(")", expected, at_line(line))
        self.lines.pop()

    def numbers_of(self, plies: int, position: Position) -> list[int]:
        """Return the numbers that the next move may have in the text."""
        if self.by_ply:
            return [plies + 1]
        return [position.number - offset for offset in self.offsets]

    def build(self) -> Record:
        """Check every move and return the record."""
        if len(self.lines) > 1:
            place = at_line(self.lines[-1].first_line)
            raise PlacedError("(", "expected ')' after the variation", place)
        with _tag("Variant", self.tag_lines.get("Variant")):
            rules = self.rules.of(self.tags.get("Variant"))
        start = _first_position(rules)
        if "FEN" in self.tags:
            with _tag("FEN", self.tag_lines["FEN"]):
                start = read_position(self.tags["FEN"], rules)
        result, notice = read_result(self.result, self.tags)
        self.record = record = Record(start, result=result)
        record.tags = self.tags  # Not as an argument, which would parse the tag FEN again.
        self.by_ply = self.lines[0].counts_plies()
        self.offsets = (0, start.number - 1)
        if "FEN" in self.tags and 0 in (numbers := self.lines[0].numbers):
            first, _ = _split_number(numbers[0][0].plain)
            if first.isdecimal() and len(first) < 9:  # The number in a FEN tag may be wrong.
                self.offsets = (start.number - int(first),)
        # Breadth first, so that the moves of the main line are first among their siblings.
        lines = deque(self.lines[0].fill(record.root, start, self))
        end = record.end()
        record.result_notice = notice or self._contradiction()
        while lines:
            line, node, position = lines.popleft()
            lines += line.fill(node, position, self)
        for node, notes in self.repeated.items():
            glyphs = [*node.glyphs, *(glyph for _, glyphs in notes for glyph in glyphs)]
            node.glyphs = list(dict.fromkeys(glyphs))
            node.annotate(" ".join(word for words, _ in notes for word in words))
        if end.children:  # A variation continues after the last move.
            record.stop = end
        return record

    def _contradiction(self) -> str:
        """Return a notice if the game's last position contradicts the result, or ''."""
        stated, outcome = self.record.result, self.final.outcome()
        if stated == "*" or outcome is None or outcome.result == stated:
            return ""
        termination = self.tags.get("Termination", "normal").lower()
        if outcome.reason in COUNTING_RULES or termination != "normal":
            return ""
        return message(
            "the game ends in '{end}', but its result is {result}", end=str(outcome), result=stated
        )


_first_position = lru_cache(maxsize=64)(Position)


@contextmanager
def _tag(name: str, line: int | None) -> Iterator[None]:
    """Add the tag and its line to each `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        tag = placed(error, message("tag {tag}", tag=name))
        raise placed(tag, at_line(line)) from None
