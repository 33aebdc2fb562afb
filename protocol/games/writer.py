"""Writing of game records as PGN with moves as merels spells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE, Position
from merels.protocol.games.tree import MARK, RESULTS, TAG_NAME, Node, Tree

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in order: the Seven Tag Roster of PGN."""
LINE_WIDTH = 80
"""Maximum length of a line of moves, in characters, unless a single word is longer."""
_TIE = "\0"
"""Written for a space at which no line may end; `printable` removes it from comments."""


def format_record(record: Tree) -> str:
    """Return a record as PGN, with an empty line at its end.

    `InputError` for a result or for a tag's name that PGN cannot express.
    """
    return _lines(format_tags(record), _words(record))


def format_moves(
    tags: dict[str, str], start: Position, moves: Iterable[tuple[str, str]], comment: str,
    result: str,
) -> str:  # fmt: skip
    """Return a game without variations as `format_record` does, from texts.

    ``moves`` are moves and their comments, which `comment_text` returned or '', ``comment`` is one
    before the first move.
    """
    words = ["{" + comment + "}"] if comment else []
    ply = first = 2 * start.number + start.side
    for move, remark in moves:
        number = f"{_number(ply)} " if ply % 2 == WHITE or ply == first else ""
        words.append(f"{number}{move} {{{remark}}}" if remark else number + move)
        ply += 1
    return _lines(_tag_lines(tags, start, ply - first, result), [*words, result])


def _lines(tags: str, words: Iterable[str]) -> str:
    text = "\n".join(_wrap(" ".join(words))).replace(_TIE, " ")
    return f"{tags}\n{text}\n\n"


def format_tags(record: Tree) -> str:
    """Return a record's tags as lines, with the roster and the tags derived from the game.

    Tags of another game, such as its FEN, are left out or replaced.
    """
    return _tag_lines(record.tags, record.start, record.end().ply, record.result)


def _tag_lines(source: dict[str, str], start: Position, plies: int, result: str) -> str:
    if result not in RESULTS:
        raise InputError(result, f"expected a result: {', '.join(RESULTS)}")
    tags = {name: "?" for name in ROSTER} | {"Date": "????.??.??"} | source
    for name in source:
        if not _is_tag_name(name):
            raise InputError(name, "expected a tag name of letters, digits and _")
    tags["Result"] = result
    tags["Variant"] = str(start.rules)
    first = format_position(start)
    if first != START:
        tags |= {"FEN": first, "SetUp": "1"}
    else:
        tags.pop("FEN", None)
        tags.pop("SetUp", None)
    if "PlyCount" in tags:
        tags["PlyCount"] = str(plies)
    return "".join(f'[{name} "{_quote(value)}"]\n' for name, value in tags.items())


def _wrap(text: str) -> Iterator[str]:
    """Yield words with single spaces between them as lines of at most `LINE_WIDTH` characters."""
    start = 0
    while len(text) - start > LINE_WIDTH:
        end = text.rfind(" ", start, start + LINE_WIDTH + 1)
        if end < 0 and (end := text.find(" ", start)) < 0:
            break
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _words(record: Tree) -> Iterator[str]:
    """Yield the words of the movetext: numbers, moves, comments, variations and the result."""
    root, stop = record.root, record.stop
    start_ply = 2 * record.start.number + record.start.side - 1
    if root.comment or root.marks:
        yield _brace(root)
    # An explicit stack, as variations may be nested deeper than Python's recursion limit.
    stack = _variations(root.children)
    if root.children and stop is not root:
        stack = [(root.children[0], False, root.children[1:])]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        node, is_numbered, alternatives = item
        while True:
            ply = start_ply + node.ply
            if ply % 2 == WHITE or not is_numbered:
                yield _number(ply)
            yield str(node.move)
            yield from node.glyphs
            if node.comment or node.marks:
                yield _brace(node)
            if alternatives or node is stop or not node.children:
                break
            is_numbered = True
            node, *alternatives = node.children
        if node is stop:
            stack += _variations(node.children, str(node.move), _number(ply))
        elif node.children:
            stack.append((node.children[0], False, node.children[1:]))
        stack += _variations(alternatives)
    yield record.result


_Line = tuple[Node, bool, list[Node]]
"""The first node of a line, whether its number was written, and the alternatives to that node."""


def _variations(nodes: list[Node], *before: str) -> list[str | _Line]:
    """Return the variations that begin with ``nodes``, as a stack: the last word comes first.

    ``before`` are words to write before each variation's first move, also in reverse.
    """
    words: list[str | _Line] = []
    for node in reversed(nodes):
        words += [")", (node, bool(before), []), *before, "("]
    return words


def _number(ply: int) -> str:
    """Return the move number to write before the move at ``ply``."""
    return f"{ply // 2}..." if ply % 2 else f"{ply // 2}."


def _brace(node: Node) -> str:
    """Return a node's marks and comment in braces."""
    words = [f"[%{name} {value}]" for name, value in node.marks.items()]
    return "{" + comment_text(" ".join([*words, node.comment])) + "}"


def comment_text(text: str) -> str:
    """Return a text for a comment: without line ends, with each ``}`` replaced by ``)``.

    No line will be broken at a space inside a mark, because some programs expect a space there.
    """
    text = printable(" ".join(text.split()).replace("}", ")"))
    if "[%" in text:
        text = MARK.sub(lambda mark: mark[0].replace(" ", _TIE), text)
    return text


@lru_cache(maxsize=256)
def _is_tag_name(name: str) -> bool:
    """Return whether a tag of this name can be read."""
    return re.fullmatch(TAG_NAME, name) is not None


def _quote(value: str) -> str:
    """Return a tag's value on one line, with quotes and backslashes escaped."""
    if not value.isprintable():
        value = "".join(c if c.isprintable() else " " for c in value)
    return value.replace("\\", r"\\").replace('"', r"\"")
