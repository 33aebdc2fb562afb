"""Trees of moves with comments, glyphs and marks, and the tags and result of their game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

from merels.engine.common.errors import (
    InputError,
    placed,
    required,
    required_items,
    required_text,
    shown,
)
from merels.engine.common.messages import message
from merels.engine.common.numbers import whole_number
from merels.engine.game.position import (
    COLOURS,
    WHITE,
    Move,
    Outcome,
    Position,
    read_move,
    required_position,
)
from merels.engine.game.score import PovScore, Score
from merels.protocol.games.clock import read_clock

TAG_NAME = r"[\w+#=:-]++"
"""Pattern of the names of tags that can be read."""
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
MARK = re.compile(r"\[%(\w++) ([^\[\]]*+)\]")
"""A command in a comment, such as ``[%clk 0:04:59]``: its name and its operands."""
_NO_MARKS: Mapping[str, str] = MappingProxyType({})
"""The marks of nodes without any; read-only, because many nodes share it."""
_EVALUATION = re.compile(
    r"(?:#(?P<moves>[+-]?\d{1,4})|(?P<men>[+-]?\d{1,6}(?:\.\d{1,6})?))(?:,\d+)?"
)
"""Operand of ``[%eval]`` from White's view: men, or ``#`` and own moves; perhaps the depth."""


class Node:
    """A move of a record with its annotations; the root has no move and no parent.

    Records make nodes, for each move that they read, and so the fields are not checked; add a move
    with `add_variation`, which checks it.

    number    identifies the node in its record; 0 is the root
    children  the first continues the line, the others are variations
    glyphs    numeric annotation glyphs such as ``$1``
    marks     operands of the commands in the comment, by name: "clk" for ``[%clk 0:04:59]``
    """

    __slots__ = (
        "number", "parent", "move", "ply", "comment", "glyphs", "marks", "children", "_position",
        "_tree",
    )  # fmt: skip
    _tree: Tree
    """The tree, in its root only."""

    def __init__(
        self, number: int, parent: Node | None, move: Move | None, position: Position | None = None
    ) -> None:
        """Create a node; a ``position`` of None is computed from the parent's when needed."""
        self.number = number
        self.parent = parent
        self.move = move
        self.ply: int = 0 if parent is None else parent.ply + 1
        """Number of moves that lead to this node."""
        self.comment = ""
        self.glyphs: Sequence[str] = ()
        self.marks = _NO_MARKS
        self.children: list[Node] = []
        self._position = position

    def __repr__(self) -> str:
        return f"<Node {self.number}: {self.move or 'start'}, ply {self.ply}>"

    @property
    def position(self) -> Position:
        """The position after the move, which must be legal.

        If a record continues after a draw by a counting rule, the rule no longer applies.
        """
        missing = []
        node = self
        while node._position is None:
            assert node.parent is not None
            missing.append(node)
            node = node.parent
        position = node._position
        for node in reversed(missing):
            assert node.move is not None
            node._position = position = position.played_on().play(node.move)
        return position

    @property
    def variations(self) -> list[Node]:
        """The moves after this one; the first continues the line."""
        return self.children

    def add_variation(self, move: Move | str, comment: str = "") -> Node:
        """Add a move after this one, with a comment, and return its node.

        A move that is there already is returned. `InputError` if the move is illegal.
        """
        required_text(comment, "a comment")
        root = self
        while root.parent is not None:
            root = root.parent
        node = root._tree.add(self, read_move(move))
        if comment:
            node.annotate(comment)
        return node

    def clock(self) -> float | None:
        """Return the mover's time after the move in seconds, from ``[%clk]``; None without it."""
        try:
            return read_clock(self.marks["clk"])
        except (KeyError, ValueError):
            return None

    def eval(self) -> PovScore | None:
        """Return the score from ``[%eval]``, or None without it."""
        match = _EVALUATION.fullmatch(self.marks.get("eval", ""))
        if match is None:
            return None
        if match["men"]:
            return PovScore(Score(cp=round(100 * float(match["men"]))), WHITE)
        moves = int(match["moves"])
        lost = match["moves"].startswith("-")  # As in "#-0", a game that is lost already.
        return PovScore(Score(win_in=2 * moves if lost else max(1, 2 * moves - 1)), WHITE)

    def mark(self, name: str, value: str) -> None:
        """Set a mark."""
        required_text(name, "the name of a mark")
        required_text(value, "the value of a mark")
        self.marks = {**self.marks, name: value}

    def annotate(self, text: str) -> None:
        """Add ``text`` to the comment, and the commands in it to the marks.

        A command stays in the comment if the node has a mark of that name with another value.
        ``text`` has no double spaces.
        """
        required_text(text, "a comment")
        if "[%" in text:
            marks = dict(self.marks)

            def take(match: re.Match[str]) -> str:
                return "" if marks.setdefault(match[1], match[2]) == match[2] else match[0]

            text = " ".join(MARK.sub(take, text).split())
            self.marks = marks
        self.comment = f"{self.comment} {text}".strip()

    def add_sentence(self, text: str) -> None:
        """Append ``text`` to the comment after a semicolon, unless the comment contains it."""
        if required_text(text, "a comment") not in self.comment:
            self.comment = "; ".join(filter(None, (self.comment, text)))

    def line(self) -> list[Node]:
        """Return the nodes from the root, excluded, to this node, included."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves that lead to this node."""
        return tuple(node.move for node in self.line() if node.move is not None)

    def child(self, move: Move) -> Node | None:
        """Return the child with that move, or None."""
        for child in self.children:
            if child.move == move:
                return child
        return None


class Tree:
    """A game: tags, result, and a tree of moves from a first position.

    The first position states the rules. The main line follows the first children and ends at the
    node ``stop``, unless it is None. Moves after ``stop``, such as ones taken back, are variations.
    """

    def __init__(
        self, start: Position | None = None, moves: Iterable[Move] = (), result: str = "*",
        tags: dict[str, str] | None = None,
    ) -> None:
        """Create a record with ``moves`` as its main line; `InputError` names an illegal move.

        Moves after a draw by a counting rule are legal.
        """
        start = Position() if start is None else required_position(start)
        self.root = Node(0, None, None, start)
        self.root._tree = self
        self.result = result
        self.tags = {} if tags is None else required_tags(tags)
        self.stop: Node | None = None
        self.drawn: tuple[int, Outcome] | None = None
        """The first draw by a counting rule after which the record goes on: the number of plies
        that lead to it, and the draw. Readers set it."""
        self.result_notice = ""
        """A contradiction between the stated results and the moves, or ''. Readers set it."""
        self.edits = 0
        """Number of changes by `put`, `remove`, `comment` and `stop_at`."""
        self._nodes: list[Node | None] = [self.root]
        """The nodes by number; None for a node that was removed."""
        node, position = self.root, self.start
        for item in required_items(moves, "moves"):
            try:
                move = read_move(item)
                position = position.played_on().push(move)
            except InputError as error:
                raise placed(error, place_of(self.start, node.ply)) from None
            node = self.append(node, move)

    def __repr__(self) -> str:
        plies = self.end().ply
        return f"<{type(self).__name__}: {plies} plies, result {self.result}, tags {self.tags}>"

    def __getstate__(self) -> tuple[object, ...]:
        """Return the record with its nodes as a flat list; `pickle` recurses into a tree."""
        rows = [
            (
                node.number, node.parent and node.parent.number, node.move, node._position,
                node.comment, node.glyphs, dict(node.marks),
            )
            for node in self
        ]  # fmt: skip
        stop = self.stop and self.stop.number
        tags = dict(self.tags)
        return self.result, tags, self.drawn, self.result_notice, stop, len(self._nodes), rows

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.result, self.tags, self.drawn, self.result_notice, stop, count, rows = state
        self.edits = 0
        self._nodes = [None] * count
        for number, parent_number, move, position, comment, glyphs, marks in rows:
            parent = None if parent_number is None else self._nodes[parent_number]
            node = self._nodes[number] = Node(number, parent, move, position)
            node.comment, node.glyphs, node.marks = comment, glyphs, marks or _NO_MARKS
            if parent is not None:
                parent.children.append(node)
            else:
                self.root = node
                node._tree = self
        self.stop = None if stop is None else self._nodes[stop]

    @property
    def start(self) -> Position:
        """The first position."""
        return self.root.position

    @property
    def moves(self) -> list[Move]:
        """The moves of the main line."""
        return list(self.end().moves)

    def end(self) -> Node:
        """Return the last node of the main line."""
        node = self.root
        while node.children and node is not self.stop:
            node = node.children[0]
        return node

    def mainline(self) -> list[Node]:
        """Return the nodes of the main line, without the root."""
        return self.end().line()

    def positions(self) -> Iterator[Position]:
        """Yield every position of the main line, from the first; the nodes do not store them."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.played_on().play(move)
            yield position

    def final(self) -> Position:
        """Return the position after the last move of the main line."""
        *_, position = self.positions()
        return position

    def __iter__(self) -> Iterator[Node]:
        """Yield all nodes, each before its children, and the first child's nodes first."""
        nodes = [self.root]
        while nodes:
            node = nodes.pop()
            yield node
            nodes += reversed(node.children)

    @property
    def next_number(self) -> int:
        """The number of the next node to be added."""
        return len(self._nodes)

    def find(self, number: int) -> Node | None:
        """Return the node with that number, or None."""
        required(number, int, "the number of a move of this game")
        return self._nodes[number] if 0 <= number < len(self._nodes) else None

    def node(self, number: object) -> Node:
        """Return the node with that number; `InputError` if it is not in the tree."""
        node = self.find(number) if isinstance(number, int) else None
        if node is None:
            raise InputError(str(number), "expected the number of a move of this game")
        return node

    def append(self, parent: Node, move: Move, position: Position | None = None) -> Node:
        """Add a legal move, new to ``parent``, as its last child; return the node.

        Nothing is checked, because readers call this for every move; `add` checks its arguments.
        """
        node = Node(len(self._nodes), parent, move, position)
        self._nodes.append(node)
        parent.children.append(node)
        return node

    def add(self, parent: Node, move: Move) -> Node:
        """Return the child of ``parent`` with that move; add it as the last child if it is new.

        `InputError` if the move is illegal.
        """
        self._require_own(parent)
        node = parent.child(read_move(move))
        return node or self.append(parent, move, parent.position.played_on().push(move))

    def put(self, node: Node, index: int) -> None:
        """Move a node to ``index`` among its parent's children, or insert a removed node."""
        parent = self._parent_of(node)
        whole_number(index, 0, len(parent.children), "index")
        children = parent.children
        if node in children:
            children.remove(node)
        else:
            self._register(node, True)
        children.insert(index, node)
        self.edits += 1

    def remove(self, node: Node) -> int:
        """Remove a node and all nodes after it; return its index among its parent's children."""
        self._require_own(node)
        parent = self._parent_of(node)
        index = parent.children.index(node)
        del parent.children[index]
        self._register(node, False)
        self.edits += 1
        return index

    def _require_own(self, node: Node) -> None:
        """Raise `InputError` unless a node is in this tree."""
        if not (isinstance(node, Node) and self.find(node.number) is node):
            raise InputError(shown(node), "expected a node of this game")

    def _parent_of(self, node: Node) -> Node:
        """Return the parent of a node; `InputError` for the root, or unless it is in the tree."""
        parent = required(node, Node, "a node of this game").parent
        if parent is None:
            raise InputError(shown(node), "expected a move, not the node before the first move")
        self._require_own(parent)
        return parent

    def _register(self, top: Node, present: bool) -> None:
        """Add ``top`` and all nodes after it to the nodes by number, or remove them."""
        nodes = [top]
        while nodes:
            node = nodes.pop()
            nodes += node.children
            self._nodes[node.number] = node if present else None

    def comment(self, node: Node, text: str) -> None:
        """Set the comment on a move; the root's comment is about the game."""
        self._require_own(node)
        node.comment = required_text(text, "a comment")
        self.edits += 1

    def stop_at(self, node: Node | None) -> None:
        """End the main line at ``node``; None lets it follow the first children to the end."""
        if node is not None:
            self._require_own(node)
        if node is not self.stop:
            self.stop = node
            self.edits += 1

    def copy(self) -> Self:
        """Return a copy of the record, whose nodes have the same numbers."""
        copy = object.__new__(type(self))
        copy.__setstate__(self.__getstate__())
        return copy


def required_tags(tags: dict[str, str]) -> dict[str, str]:
    """Return an argument that must be a dict of texts by name; `InputError` if it is not."""
    required(tags, dict, "a dict of tags")
    for name, value in tags.items():
        if not (isinstance(name, str) and isinstance(value, str)):
            raise InputError(f"{shown(name)}: {shown(value)}", "expected strings as tag and value")
    return tags


def place_of(start: Position, plies: int) -> str:
    """Return the place of the move after ``plies`` moves, such as ``move 3, White``."""
    number, side = divmod(2 * start.number + start.side + plies, 2)
    return message("move {number}, {side}", number=number, side=COLOURS[side])
