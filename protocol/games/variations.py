"""Variations and comments: made, moved and removed; all of it can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from merels.engine.common.errors import InputError
from merels.engine.game.position import Move, Position
from merels.protocol.games.record import Node, Record


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change of the tree, with where the game stands and what is shown before and after it."""

    redo: Callable[[], object]
    undo: Callable[[], object]
    before: tuple[Node, Node]
    after: tuple[Node, Node]


class Variations:
    """A tree with the node shown, ``at``, and its changes that are not moves of the game.

    The game that the tree is of stands at the node ``live``: while it is ``played`` where its
    players are, else at the end of the main line. Changes can be undone, the last first, until
    the game goes on.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.live = self.at = self.record.end()
        self.played = True
        self.version = 0
        """Increased by every change of moves, comments or result."""
        self._done: list[_Edit] = []
        self._undone: list[_Edit] = []

    @property
    def in_play(self) -> bool:
        """Whether the game is played and goes on."""
        return self.played

    @property
    def settled(self) -> bool:
        """Whether moves tried after the last move of the game are variations."""
        return self.played and self.live.parent is not None

    @property
    def shown(self) -> Position:
        """The position shown."""
        return self.at.position

    @property
    def can_undo_edit(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._done)

    @property
    def can_redo_edit(self) -> bool:
        """Whether a change was undone."""
        return bool(self._undone)

    def attempt(self, move: Move) -> None:
        """Try a move in the position shown; a move that is new there becomes a variation."""
        record, parent = self.record, self.at
        known = len(parent.children)
        if parent is self.live and self.settled:
            record.stop_at(parent)
        node = record.add(parent, move)
        if len(parent.children) == known:
            self.at = node
            return
        self._note(
            lambda: record.put(node, known), lambda: record.remove(node), (self.live, parent),
            self.live, node,
        )

    def promote(self, node: Node) -> None:
        """Let the variation that a node belongs to change places with the one before it."""
        record = self.record
        while (
            node.parent is not None and node.parent.children[0] is node
            and node.parent is not record.stop
        ):  # fmt: skip
            node = node.parent
        if node.parent is None:
            raise InputError("promote", "this is the main line already")
        stop, children = node.parent, node.parent.children
        place = children.index(node)
        if self.played and (place == 0 or place == 1 and children[0] in self.live.line()):
            raise InputError("promote", "the game that is played here stays the main line")
        if place == 0:  # Its line goes on with the main line, which ended before it.
            self._carry_out(
                lambda: record.stop_at(None), lambda: record.stop_at(stop), self.live, self.at
            )
            return
        self._carry_out(
            lambda: record.put(node, place - 1), lambda: record.put(node, place), self.live, self.at
        )

    def delete(self, node: Node) -> None:
        """Take a node and all after it from the tree."""
        record, parent = self.record, node.parent
        if parent is None:
            raise InputError("delete", "the start is not a move")
        of_game = node in self.live.line()
        if of_game and self.played:
            when = "while it is played" if self.in_play else "after it has ended"
            raise InputError(str(node.move), f"a move of the game is not deleted {when}")
        place = parent.children.index(node)
        self._carry_out(
            lambda: record.remove(node), lambda: record.put(node, place),
            parent if of_game else self.live, parent if node in self.at.line() else self.at,
        )

    def comment(self, node: Node, text: str) -> None:
        """Change the comment on a node's move."""
        record, before = self.record, node.comment
        if text != before:
            self._carry_out(
                lambda: record.comment(node, text), lambda: record.comment(node, before),
                self.live, self.at,
            )

    def undo_edit(self) -> None:
        """Undo the last change."""
        if not self._done:
            raise InputError("undo", "there is nothing to undo")
        edit = self._done.pop()
        edit.undo()
        self._undone.append(edit)
        self._show(edit.before)

    def redo_edit(self) -> None:
        """Make the change again that was undone last."""
        if not self._undone:
            raise InputError("redo", "there is nothing to do again")
        edit = self._undone.pop()
        edit.redo()
        self._done.append(edit)
        self._show(edit.after)

    def forget_edits(self) -> None:
        """Forget all changes, which stay as they are."""
        self._done.clear()
        self._undone.clear()

    def _carry_out(
        self, redo: Callable[[], object], undo: Callable[[], object], live: Node, at: Node
    ) -> None:
        """Make a change that sets the game's node and the node shown."""
        before = self.live, self.at
        redo()
        self._note(redo, undo, before, live, at)

    def _note(
        self, redo: Callable[[], object], undo: Callable[[], object], before: tuple[Node, Node],
        live: Node, at: Node,
    ) -> None:
        """Remember a change that was made, and show what it leads to."""
        # A record that is only viewed is always at the end of its main line.
        after = (live if self.played else self.record.end(), at)
        self._done.append(_Edit(redo, undo, before, after))
        self._undone.clear()
        self._show(after)

    def _show(self, nodes: tuple[Node, Node]) -> None:
        self.live, self.at = nodes
        self.version += 1
