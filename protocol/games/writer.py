"""Writing of game records as PGN, with moves in merels' notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from merels.engine.common.errors import (
    InputError,
    printable,
    required,
    required_items,
    required_text,
)
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE, Position
from merels.protocol.games.tree import MARK, RESULTS, TAG_NAME, Node, Tree, required_tags

ROSTER = ("Event", "Site", "Date", "Round", "White", "Black", "Result")
"""The tags that every record has, in order: the Seven Tag Roster of PGN."""
LINE_WIDTH = 80
"""Maximum length of a line of moves, in characters, unless a single word is longer."""
_FIXED_SPACE = "\0"
"""Placeholder for a space at which no line may end. It occurs in no comment: `comment_text` removes
control characters before it inserts placeholders."""


def format_record(record: Tree) -> str:
    """Return a record as PGN, with an empty line at its end.

    `InputError` for a result or for a tag's name that PGN cannot express, and for tags, comments,
    glyphs and marks of another type.
    """
    required(record, Tree, "a Record")
    return _join(format_tags(record), _words(record))


def format_plain_record(
    tags: dict[str, str], start: Position, moves: Iterable[tuple[str, str]], comment: str,
    result: str,
) -> str:  # fmt: skip
    """Return a game without variations as PGN, without building a `Tree`.

    ``moves`` are pairs of a move and its comment. ``comment`` comes before the first move. Comments
    are '' or texts that `comment_text` returned.
    """
    words = [f"{move} {{{remark}}}" if remark else move for move, remark in moves]
    plies = range(len(words))
    for ply in {*plies[:1], *plies[start.side :: 2]}:  # The first move, and those of White.
        words[ply] = f"{_number(2 * start.number + start.side + ply)} {words[ply]}"
    before = ["{" + comment + "}"] if comment else []
    return _join(_tag_lines(tags, start, len(words), result), [*before, *words, result])


def _join(tags: str, words: Iterable[str]) -> str:
    """Return the text of a record: its tags, and the words of its movetext on wrapped lines."""
    movetext = "\n".join(_wrap(" ".join(words))).replace(_FIXED_SPACE, " ")
    return f"{tags}\n{movetext}\n\n"


def format_tags(record: Tree) -> str:
    """Return a record's tags as lines, with the roster and the tags derived from the game.

    Result, Variant, FEN, SetUp and PlyCount are derived, whatever the record's tags state. PlyCount
    is written only if the record has this tag.
    """
    return _tag_lines(record.tags, record.start, record.end().ply, record.result)


def _tag_lines(source: dict[str, str], start: Position, plies: int, result: str) -> str:
    if result not in RESULTS:
        raise InputError(result, f"expected a result: {', '.join(RESULTS)}")
    required_tags(source)
    tags = {name: "?" for name in ROSTER} | {"Date": "????.??.??"} | source
    for name in source:
        if not _is_tag_name(name):
            raise InputError(name, "expected a tag name of letters, digits and _")
    tags["Result"] = result
    tags["Variant"], first = _start_texts(start)
    if first != START:
        tags |= {"FEN": first, "SetUp": "1"}
    else:
        tags.pop("FEN", None)
        tags.pop("SetUp", None)
    if "PlyCount" in tags:
        tags["PlyCount"] = str(plies)
    return "".join(f'[{name} "{_quote(value)}"]\n' for name, value in tags.items())


@lru_cache(maxsize=256)
def _start_texts(start: Position) -> tuple[str, str]:
    """Return the rules and the position, cached because openings recur."""
    return str(start.rules), format_position(start)


def _wrap(text: str) -> Iterator[str]:
    """Yield the lines of a text wrapped at `LINE_WIDTH`; single spaces separate its words."""
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
    offset = 2 * record.start.number + record.start.side - 1
    if root.comment or root.marks:
        yield _brace(root)
    # An explicit stack, as variations may be nested deeper than Python's recursion limit.
    if root.children and stop is not root:
        stack: list[str | _Line] = [(root.children[0], True, root.children[1:])]
    else:
        stack = _variations(root.children)
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        node, needs_number, alternatives = item
        while True:
            half_move = offset + node.ply
            if half_move % 2 == WHITE or needs_number:
                yield _number(half_move)
            yield str(node.move)
            if node.glyphs:
                for glyph in required_items(node.glyphs, "glyphs such as $1"):
                    yield required_text(glyph, "a glyph such as $1")
            if node.comment or node.marks:
                yield _brace(node)
            if alternatives or node is stop or not node.children:
                break
            needs_number = False
            node, *alternatives = node.children
        if node is stop:
            stack += _variations(node.children, str(node.move), _number(half_move))
        elif node.children:
            stack.append((node.children[0], True, node.children[1:]))
        stack += _variations(alternatives)
    yield record.result


_Line = tuple[Node, bool, list[Node]]
"""The first node of a line, whether its move needs a number, and the alternatives to that node.

A move by White always gets a number."""


def _variations(nodes: list[Node], *before: str) -> list[str | _Line]:
    """Return the variations that begin with ``nodes``, as a stack: the last word comes first.

    ``before`` are words to write before each variation's first move, also in reverse.
    """
    words: list[str | _Line] = []
    for node in reversed(nodes):
        words += [")", (node, not before, []), *before, "("]
    return words


def _number(half_move: int) -> str:
    """Return the number to write before a move: ``3.``, or ``3...`` before a move by Black.

    ``half_move`` is twice the move number, plus 1 if Black moves.
    """
    return f"{half_move // 2}..." if half_move % 2 else f"{half_move // 2}."


def _brace(node: Node) -> str:
    """Return a node's marks and comment in braces."""
    marks = required(node.marks, Mapping, "a dict of marks")
    words = [f"[%{name} {value}]" for name, value in marks.items()]
    words.append(required_text(node.comment, "a comment"))
    return "{" + comment_text(" ".join(words)) + "}"


def comment_text(text: str) -> str:
    """Return ``text`` as a comment: on one line, with each ``}`` replaced by ``)``.

    No line will be broken at a space inside a mark, because some programs expect a space there.
    """
    text = printable(" ".join(text.split()).replace("}", ")"))
    if "[%" in text:
        text = MARK.sub(lambda mark: mark[0].replace(" ", _FIXED_SPACE), text)
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
