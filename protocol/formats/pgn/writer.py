"""Game records written as PGN with merels moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from merels.engine.common.errors import printable
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE
from merels.engine.game.record import Record, Variation

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in their order."""
LINE = 80
"""Characters of a line of moves."""


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
