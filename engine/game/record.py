"""Game records, PGN in form with merels moves: what they hold, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from merels.engine.common.errors import printable
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import (
    COLOURS,
    COUNTING_RULES,
    WHITE,
    Move,
    Outcome,
    Position,
)

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in their order."""
LINE = 80
"""Characters of a line of moves."""

@dataclass
class Variation:
    """Moves in place of others; its fields are like those of a record."""

    moves: list[Move] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    opening_comment: str = ""
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class Record:
    """A game: its tags, its first position, its moves, a comment for each move, its result.

    ``comments[i]`` follows ``moves[i]`` and may be empty; ``opening_comment`` stands before
    the first move. ``variations[i]`` are in place of ``moves[i]`` and what follows it.
    ``glyphs[i]`` are the numeric annotation glyphs of ``moves[i]``, such as $1. ``start`` carries
    the rules.
    """

    start: Position = field(default_factory=Position)
    moves: list[Move] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    result: str = "*"
    tags: dict[str, str] = field(default_factory=dict)
    opening_comment: str = ""
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)
    drawn: tuple[int, Outcome] | None = field(default=None, compare=False)
    """Number of moves after which a counting rule drew the game, and the draw, if moves follow."""

    def positions(self) -> Iterator[Position]:
        """Yield every position of the game, the first one included.

        After a draw by counting the game goes on without such rules.
        """
        position = self.start
        yield position
        for move in self.moves:
            position = position.played_on().play(move)
            yield position

    def final(self) -> Position:
        """The position after the last move."""
        *_, position = self.positions()
        return position


def drawn_notice(record: Record, by_flags: bool = True) -> str:
    """Return one sentence on a draw by counting after which moves follow; empty if none does.

    ``by_flags``: the user states rules with -variant and -set.
    """
    if record.drawn is None:
        return ""
    plies, outcome = record.drawn
    where = "before the first move"
    if plies:
        where = f"at {place_of(record.start, plies - 1)} ({record.moves[plies - 1]})"
    setting = f"{COUNTING_RULES[outcome.reason]}=0"
    if by_flags:
        setting = f"-set {setting}" + " or -variant morris" * (outcome.reason == "three")
    return f"{outcome} {where}; the moves after it are read on; {setting} has no such draw"


def place_of(start: Position, plies: int) -> str:
    """Return the number and side of a move by the number of plies since the first position."""
    number, side = divmod(2 * start.number + start.side + plies, 2)
    return f"move {number}, {COLOURS[side]}"


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


def movetext(record: Record) -> str:
    """The record's moves, comments and variations on one line, without its result."""
    *words, _ = _words(record)
    return " ".join(words)


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
    """The movetext, word by word: numbers, moves, comments, variations, result."""
    # Variations may be nested deeper than functions can be.
    lines = [_line_words(record, 2 * record.start.number + record.start.side)]
    while lines:
        for word in lines[-1]:
            if not isinstance(word, str):
                lines.append(word)
                break
            yield word
        else:
            lines.pop()
    yield record.result


_Words = Iterator[Union[str, "_Words"]]
"""Words, and where a variation stands, its words."""


def _line_words(line: Record | Variation, ply: int) -> _Words:
    """The words of a line whose first move is number ``ply // 2``, Black's where that is odd."""
    if line.opening_comment:
        yield _brace(line.opening_comment)
    numbered = False
    for index, move in enumerate(line.moves):
        number, side = divmod(ply + index, 2)
        if side == WHITE or not numbered:
            yield f"{number}." if side == WHITE else f"{number}..."
        yield str(move)
        yield from line.glyphs.get(index, ())
        comment = line.comments[index] if index < len(line.comments) else ""
        if comment:
            yield _brace(comment)
        for variation in line.variations.get(index, ()):
            yield "("
            yield _line_words(variation, ply + index)
            yield ")"
        numbered = index not in line.variations


def _brace(comment: str) -> str:
    """A comment in braces; the one character that would end it early is replaced."""
    return "{" + printable(" ".join(comment.replace("}", ")").split())) + "}"


def _quote(value: str) -> str:
    """A tag's value with its quotes and backslashes escaped, on one line."""
    if not value.isprintable():
        value = "".join(c if c.isprintable() else " " for c in value)
    return value.replace("\\", r"\\").replace('"', r"\"")
