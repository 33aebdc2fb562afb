"""Game records: trees of moves with comments, glyphs, marks, tags and a result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from merels.engine.common.errors import InputError
from merels.engine.game.position import COLOURS, COUNTING_RULES, Move, Outcome, Position

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
MARK = re.compile(r"\[%(\w++) ([^\[\]]*+)\]")
"""A command within a comment, such as ``[%clk 0:04:59]``: its name and its operands."""
_NO_MARKS: Mapping[str, str] = {}


class Node:
    """A move of a record with its notes; the root has no move and no parent.

    ``number`` is the node's own in the record, from 0 for the root. The first of ``children``
    continues the line, the others are variations. ``glyphs`` are numeric annotation glyphs such as
    $1, ``marks`` the commands within the comment, such as the clock: "clk" of ``[%clk 0:04:59]``.
    """

    __slots__ = (
        "number", "parent", "move", "ply", "comment", "glyphs", "marks", "children", "_position",
    )  # fmt: skip

    def __init__(
        self, number: int, parent: Node | None, move: Move | None, position: Position | None = None
    ) -> None:
        """``position`` is computed from the parent's if it is None."""
        self.number = number
        self.parent = parent
        self.move = move
        self.ply: int = 0 if parent is None else parent.ply + 1
        """Number of moves that lead here."""
        self.comment = ""
        self.glyphs: Sequence[str] = ()
        self.marks = _NO_MARKS
        self.children: list[Node] = []
        self._position = position

    @property
    def position(self) -> Position:
        """The position after the move, which must be legal.

        After a draw by a counting rule a record goes on without such rules.
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

    def mark(self, name: str, value: str) -> None:
        """Set a mark."""
        self.marks = {**self.marks, name: value}

    def annotate(self, text: str) -> None:
        """Add to the comment a text without double spaces; its marks become the node's.

        A mark with another value than the node has under its name stays in the comment.
        """
        if "[%" in text:
            marks = dict(self.marks)

            def take(match: re.Match[str]) -> str:
                return "" if marks.setdefault(match[1], match[2]) == match[2] else match[0]

            text = " ".join(MARK.sub(take, text).split())
            self.marks = marks
        self.comment = f"{self.comment} {text}".strip()

    def line(self) -> list[Node]:
        """The nodes from the root, which is left out, to this node."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def moves(self) -> tuple[Move, ...]:
        """The moves that lead here."""
        return tuple(node.move for node in self.line() if node.move is not None)

    def child(self, move: Move) -> Node | None:
        """The node of a move played here, or None."""
        for child in self.children:
            if child.move == move:
                return child
        return None


class Record:
    """A game: its tags, its result, and its moves as a tree from a first position.

    The rules are those of the first position. The main line follows the first children, down to
    the node ``stop`` if there is one: moves after that node are variations, such as those that
    were taken back in a game.
    """

    def __init__(
        self, start: Position | None = None, moves: Iterable[Move] = (), result: str = "*",
        tags: dict[str, str] | None = None,
    ) -> None:
        """The ``moves`` are not checked."""
        self.root = Node(0, None, None, start or Position())
        self.result = result
        self.tags = {} if tags is None else tags
        self.stop: Node | None = None
        self.drawn: tuple[int, Outcome] | None = None
        """Number of moves after which a counting rule drew the game, and the draw, if moves follow;
        set by the readers."""
        self.edits = 0
        """Number of changes other than nodes added as last children."""
        self._nodes: list[Node | None] = [self.root]
        """By number; None where the node was removed."""
        node = self.root
        for move in moves:
            node = self.append(node, move)

    @property
    def start(self) -> Position:
        """The first position."""
        return self.root.position

    @property
    def moves(self) -> list[Move]:
        """The moves of the main line."""
        return list(self.end().moves())

    def end(self) -> Node:
        """The last node of the main line."""
        node = self.root
        while node.children and node is not self.stop:
            node = node.children[0]
        return node

    def line(self) -> list[Node]:
        """The nodes of the main line, without the root."""
        return self.end().line()

    def positions(self) -> Iterator[Position]:
        """Yield every position of the main line, the first one included, and keep none."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.played_on().play(move)
            yield position

    def final(self) -> Position:
        """The position after the last move of the main line."""
        *_, position = self.positions()
        return position

    def __iter__(self) -> Iterator[Node]:
        """All nodes, parents before their children and first children first."""
        nodes = [self.root]
        while nodes:
            node = nodes.pop()
            yield node
            nodes += reversed(node.children)

    @property
    def next_number(self) -> int:
        """The number of the next node."""
        return len(self._nodes)

    def find(self, number: int) -> Node | None:
        """The node of a number, or None."""
        return self._nodes[number] if 0 <= number < len(self._nodes) else None

    def node(self, number: object) -> Node:
        """The node of a number; `InputError` if it is not in the tree."""
        node = self.find(number) if isinstance(number, int) else None
        if node is None:
            raise InputError(str(number), "expected the number of a move of this game")
        return node

    def since(self, number: int) -> list[Node]:
        """The nodes from a number on, parents first."""
        return [node for node in self._nodes[number:] if node is not None]

    def append(self, parent: Node, move: Move, position: Position | None = None) -> Node:
        """Add a legal move that is new as the last child of a node."""
        node = Node(len(self._nodes), parent, move, position)
        self._nodes.append(node)
        parent.children.append(node)
        return node

    def add(self, parent: Node, move: Move) -> Node:
        """The node of a move, the last child if it is new; `InputError` if it is illegal."""
        node = parent.child(move)
        return node or self.append(parent, move, parent.position.played_on().push(move))

    def put(self, node: Node, place: int) -> None:
        """Put a node in a place among its parent's children, where it may be already."""
        assert node.parent is not None
        children = node.parent.children
        if node in children:
            children.remove(node)
        else:
            self._register(node, True)
        children.insert(place, node)
        self.edits += 1

    def remove(self, node: Node) -> int:
        """Remove a node and all after it; return the place that it had."""
        assert node.parent is not None
        place = node.parent.children.index(node)
        del node.parent.children[place]
        self._register(node, False)
        self.edits += 1
        return place

    def _register(self, top: Node, known: bool) -> None:
        """Make the nodes from one on findable by their numbers, or not."""
        nodes = [top]
        while nodes:
            node = nodes.pop()
            nodes += node.children
            self._nodes[node.number] = node if known else None

    def comment(self, node: Node, text: str) -> None:
        """Change the comment on a move, or of the root, on the game."""
        node.comment = text
        self.edits += 1

    def stop_at(self, node: Node | None) -> None:
        """End the main line at a node, or with None at the last first child."""
        if node is not self.stop:
            self.stop = node
            self.edits += 1

    def copy(self) -> Record:
        """Return a record of the same game, with the same numbers of nodes."""
        copy = Record(self.start, result=self.result, tags=dict(self.tags))
        copy.drawn = self.drawn
        nodes: list[Node | None] = [None] * len(self._nodes)
        copy._nodes = nodes
        for node in self:
            parent = node.parent and nodes[node.parent.number]
            twin = nodes[node.number] = Node(node.number, parent, node.move, node._position)
            twin.comment, twin.glyphs, twin.marks = node.comment, node.glyphs, node.marks
            if parent is not None:
                parent.children.append(twin)
            else:
                copy.root = twin
        copy.stop = self.stop and nodes[self.stop.number]
        return copy


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
