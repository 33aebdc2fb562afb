"""A tree of variations: every move that was played or tried in a game."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from merels.engine.common.errors import InputError
from merels.engine.game.position import Move, Position
from merels.engine.game.record import Record, Variation
from merels.protocol.formats.pgn.writer import movetext

_BRACKETS = str.maketrans("{}", "[]")
"""A comment in a comment would end it."""


class Node:
    """A move, and the position after it; the root has no move and no parent.

    ``number`` is its own in the tree, from 0 for the root. The first of ``children`` goes on with
    the line, the others are variations.
    """

    __slots__ = ("number", "parent", "move", "position", "comment", "glyphs", "children", "ply")

    def __init__(
        self, number: int, parent: Node | None, move: Move | None, position: Position
    ) -> None:
        self.number = number
        self.parent = parent
        self.move = move
        self.position = position
        self.comment = ""
        self.glyphs: list[str] = []
        self.children: list[Node] = []
        self.ply: int = 0 if parent is None else parent.ply + 1
        """The number of moves that lead here."""

    def line(self) -> list[Node]:
        """The nodes that lead here from the root, which is left out; this one is the last."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def moves(self) -> tuple[Move, ...]:
        """The moves that lead here."""
        return tuple(node.move for node in self.line() if node.move is not None)


class Tree:
    """The moves from a start position.

    The main line is that of the first children, down to the node ``stop`` if there is one: all
    moves after that node are variations, such as those that were taken back in a game.
    """

    def __init__(self, start: Position) -> None:
        self.root = Node(0, None, None, start)
        self._nodes = {0: self.root}
        self._next = 1
        self.stop: Node | None = None
        self.edits = 0
        """Changes of the tree that are more than a node added as a last child."""

    def __iter__(self) -> Iterator[Node]:
        """All nodes, parents before their children and first children first."""
        nodes = [self.root]
        while nodes:
            node = nodes.pop()
            yield node
            nodes += reversed(node.children)

    def __contains__(self, node: Node) -> bool:
        return self._nodes.get(node.number) is node

    def has(self, number: int) -> bool:
        """Whether there is a node of that number."""
        return number in self._nodes

    def end(self) -> Node:
        """The last node of the main line."""
        node = self.root
        while node.children and node is not self.stop:
            node = node.children[0]
        return node

    def stop_at(self, node: Node | None) -> None:
        """Let the main line end at a node, or with None at the last first child."""
        if node is not self.stop:
            self.stop = node
            self.edits += 1

    @property
    def next_number(self) -> int:
        """The number of the next node."""
        return self._next

    def node(self, number: object) -> Node:
        """The node of a number; `InputError` if it is not in the tree."""
        node = self._nodes.get(number) if isinstance(number, int) else None
        if node is None:
            raise InputError(str(number), "expected the number of a move of this game")
        return node

    def since(self, number: int) -> list[Node]:
        """The nodes from a number on, parents first."""
        return [self._nodes[one] for one in range(number, self._next) if one in self._nodes]

    def add(self, parent: Node, move: Move) -> Node:
        """The node of a move, the last child if it is new; `InputError` if it is not legal."""
        for child in parent.children:
            if child.move == move:
                return child
        # A record may go on after a draw by counting.
        node = Node(self._next, parent, move, parent.position.played_on().push(move))
        self._next += 1
        self._nodes[node.number] = node
        parent.children.append(node)
        return node

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
        """Take a node and all after it from the tree; the place that it had."""
        assert node.parent is not None
        place = node.parent.children.index(node)
        del node.parent.children[place]
        self._register(node, False)
        self.edits += 1
        return place

    def comment(self, node: Node, text: str) -> None:
        """Change the comment on a move, or of the root, on the game."""
        node.comment = text
        self.edits += 1

    def _register(self, top: Node, known: bool) -> None:
        """Let the nodes from one on be found by their numbers, or not."""
        nodes = [top]
        while nodes:
            node = nodes.pop()
            nodes += node.children
            if known:
                self._nodes[node.number] = node
            else:
                del self._nodes[node.number]


def from_record(record: Record) -> Tree:
    """The tree of a record."""
    tree = Tree(record.start)
    tree.root.comment = record.opening_comment
    end = tree.root
    # Variations may repeat a move any number of times, each with comments and glyphs of its own.
    comments: dict[Node, list[str]] = {}
    glyphs: dict[Node, dict[str, None]] = {}
    # Main lines come first, so that their moves are the first children.
    lines: deque[tuple[Record | Variation, Node]] = deque([(record, tree.root)])
    while lines:
        line, node = lines.popleft()
        before = "" if line is record else line.opening_comment
        for index, move in enumerate(line.moves):
            lines += [(variation, node) for variation in line.variations.get(index, ())]
            node = tree.add(node, move)
            comment = line.comments[index] if index < len(line.comments) else ""
            comments.setdefault(node, []).extend(filter(None, (before, comment)))
            glyphs.setdefault(node, {}).update(dict.fromkeys(line.glyphs.get(index, ())))
            before = ""
        if line is record:
            end = node
    for node, parts in comments.items():
        node.comment, node.glyphs = " ".join(parts), list(glyphs[node])
    if end.children:  # A variation begins with the last move.
        tree.stop_at(end)
    return tree


def to_record(tree: Tree) -> Record:
    """The moves, variations, comments and glyphs of a tree as a record.

    Moves after the end of the main line become variations that begin with its last move. A record
    without moves has no place for variations: they become text of the opening comment.
    """
    if tree.stop is not tree.root:
        return _to_record(tree, tree.stop)
    record = Record(tree.root.position, opening_comment=tree.root.comment)
    if tree.root.children:
        moves = movetext(_to_record(tree, None)).translate(_BRACKETS)
        record.opening_comment = f"{tree.root.comment} Variation: {moves}".strip()
    return record


def _to_record(tree: Tree, stop: Node | None) -> Record:
    """The record of a tree whose main line ends at a node, if any."""
    record = Record(tree.root.position, opening_comment=tree.root.comment)
    lines: list[tuple[Record | Variation, Node]] = [(record, tree.root)]
    while lines:
        line, node = lines.pop()
        while node.children:
            ends = node is stop and line is record
            for other in node.children if ends else node.children[1:]:
                assert other.move is not None
                before = line.moves[-1:] if ends else []
                variation = Variation([*before, other.move], [*([""] * ends), other.comment])
                variation.glyphs = {len(before): other.glyphs} if other.glyphs else {}
                place = len(line.moves) - len(before)
                line.variations.setdefault(place, []).append(variation)
                lines.append((variation, other))
            if ends:
                break
            node = node.children[0]
            assert node.move is not None
            if node.glyphs:
                line.glyphs[len(line.moves)] = node.glyphs
            line.moves.append(node.move)
            line.comments.append(node.comment)
    return record
