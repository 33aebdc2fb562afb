"""Game records written as PGN with merels moves."""

from __future__ import annotations

from collections.abc import Iterator

from merels.engine.common.errors import printable
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE
from merels.protocol.games.record import MARK, Node, Record

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


def _words(record: Record) -> Iterator[str]:
    """The movetext, word by word: numbers, moves, comments, variations, result."""
    root, stop = record.root, record.stop
    first = 2 * record.start.number + record.start.side - 1
    if root.comment or root.marks:
        yield _brace(root)
    # Variations may be nested deeper than functions can be.
    rest = _variations(root.children)
    if root.children and stop is not root:
        rest = [(root.children[0], False, root.children[1:])]
    while rest:
        item = rest.pop()
        if isinstance(item, str):
            yield item
            continue
        node, is_numbered, others = item
        while True:
            ply = first + node.ply
            if ply % 2 == WHITE or not is_numbered:
                yield _number(ply)
            yield str(node.move)
            yield from node.glyphs
            if node.comment or node.marks:
                yield _brace(node)
            if others or node is stop or not node.children:
                break
            is_numbered = True
            node, *others = node.children
        if node is stop:
            rest += _variations(node.children, str(node.move), _number(ply))
        elif node.children:
            rest.append((node.children[0], False, node.children[1:]))
        rest += _variations(others)
    yield record.result


_Line = tuple[Node, bool, list[Node]]
"""The first node of a line, whether its number was written, and the alternatives to the node."""


def _variations(nodes: list[Node], *before: str) -> list[str | _Line]:
    """Variations that begin with some nodes; ``before`` is a move before them. Last words first."""
    words: list[str | _Line] = []
    for node in reversed(nodes):
        words += [")", (node, bool(before), []), *before, "("]
    return words


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
