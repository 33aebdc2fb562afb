"""Game records written as PGN with merels moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Union

from merels.engine.common.errors import printable
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE
from merels.protocol.formats.pgn.tokens import MARK
from merels.protocol.games.record import Node, Record

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in their order."""
LINE = 80
"""Characters of a line of moves."""
_TIE = "\0"
"""A space at which no line ends; the words of a record hold no such character."""


def format_record(record: Record) -> str:
    """The record as text that ends with an empty line."""
    words = "\n".join(_wrap(" ".join(_words(record)))).replace(_TIE, " ")
    return f"{format_tags(record)}\n{words}\n\n"


def format_tags(record: Record) -> str:
    """The tags as lines, those that follow from the game among them."""
    tags = {name: "?" for name in ROSTER} | {"Date": "????.??.??"} | record.tags
    tags["Result"] = record.result
    tags["Variant"] = str(record.start.rules)
    first = format_position(record.start)
    if first != START:
        tags |= {"FEN": first, "SetUp": "1"}
    return "".join(f'[{name} "{_quote(value)}"]\n' for name, value in tags.items())


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


_Words = Iterator[Union[str, "_Words"]]
"""Words, and where a variation stands, its words."""


def _words(record: Record) -> Iterator[str]:
    """The movetext, word by word: numbers, moves, comments, variations, result."""
    root = record.root
    if root.comment or root.marks:
        yield _brace(root)
    # Variations may be nested deeper than functions can be.
    lines = [_main_line(record)]
    while lines:
        for word in lines[-1]:
            if not isinstance(word, str):
                lines.append(word)
                break
            yield word
        else:
            lines.pop()
    yield record.result


def _main_line(record: Record) -> _Words:
    first = 2 * record.start.number + record.start.side - 1
    if record.stop is not record.root and record.root.children:
        yield from _line(first, record.stop, *record.root.children)
    if record.stop is not None:
        yield from _variations(first, record.stop.children, record.stop)


def _variations(first: int, nodes: Iterable[Node], after: Node | None = None) -> _Words:
    """Variations that begin with some nodes, or one move earlier, with that of a node ``after``."""
    for node in nodes:
        yield "("
        if after is not None and after.move is not None:
            yield _number(first + after.ply)
            yield str(after.move)
            yield from _line(first, None, node, is_numbered=True)
        else:
            yield _line(first, None, node)
        yield ")"


def _line(
    first: int, stop: Node | None, node: Node, *others: Node, is_numbered: bool = False
) -> _Words:
    """The words of a line from a node to ``stop``, with variations; ``others`` replace the node.

    A node's half move has the number ``first + node.ply``, odd for Black.
    """
    while True:
        ply = first + node.ply
        if ply % 2 == WHITE or not is_numbered:
            yield _number(ply)
        yield str(node.move)
        yield from node.glyphs
        if node.comment or node.marks:
            yield _brace(node)
        if others:
            yield from _variations(first, others)
        if node is stop or not node.children:
            return
        is_numbered = not others
        node, others = node.children[0], tuple(node.children[1:])


def _number(ply: int) -> str:
    """The number of a half move as it is written before the move."""
    return f"{ply // 2}..." if ply % 2 else f"{ply // 2}."


def _brace(node: Node) -> str:
    """The marks and the comment in braces; the one character that would end it early is replaced.

    A line never ends within a mark, as some programs expect one space there.
    """
    words = [f"[%{name} {value}]" for name, value in node.marks.items()]
    words += node.comment.split()
    text = printable(" ".join(words).replace("}", ")"))
    if "[%" in text:
        text = MARK.sub(lambda mark: mark[0].replace(" ", _TIE), text)
    return "{" + text + "}"


def _quote(value: str) -> str:
    """A tag's value with its quotes and backslashes escaped, on one line."""
    if not value.isprintable():
        value = "".join(c if c.isprintable() else " " for c in value)
    return value.replace("\\", r"\\").replace('"', r"\"")
