"""A game on the board: its tree of moves, the node shown, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.common.messages import message
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.protocol.games.clock import Clock, clock_text
from merels.protocol.games.record import Record
from merels.protocol.games.tree import Node

_RESIGNS = "{winner} wins, {loser} resigns"
_OUT_OF_TIME = "{winner} wins, {loser} is out of time"
_DECISIVE_ENDS = {
    (loser, how): (
        ("0-1", "1-0")[loser], message(how, winner=COLOURS[1 - loser], loser=COLOURS[loser])
    )
    for loser in (WHITE, BLACK)
    for how in (_RESIGNS, _OUT_OF_TIME)
}
"""Result and reason, by the loser and `_RESIGNS` or `_OUT_OF_TIME`."""
_AGREED_DRAW = ("1/2-1/2", "Draw by agreement")
_DERIVED_TAGS = ("Result", "Variant", "FEN", "SetUp", "PlyCount")
"""Tags that are derived from the first position, the moves and the result."""


class End(NamedTuple):
    """An end that the position does not show, such as a resignation; ``node`` is the last move."""

    node: Node
    result: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change of the tree, with the nodes ``live`` and ``at`` of `Game` before and after it."""

    redo: Callable[[], object]
    undo: Callable[[], object]
    before: tuple[Node, Node]
    after: tuple[Node, Node]


class Game:
    """A game that is played, or a record that is viewed, with its variations and its clock.

    ``live`` is the node of the last move played; for a record that is viewed (``played`` is False),
    it is the end of the main line. ``at`` is the node shown. Edits of variations and comments can
    be undone until the next move, take-back or replay in the game.
    """

    def __init__(self, start: Position | Record) -> None:
        self.record = Record(start, tags=_new_tags()) if isinstance(start, Position) else start
        self.live = self.at = self.record.end()
        self.played = True
        self.version = 0
        """Incremented by each change of moves, comments or result."""
        self._done: list[_Edit] = []
        self._undone: list[_Edit] = []
        self.clock: Clock | None = None
        self.offer: int | None = None
        """The side that offers a draw, or None."""
        self.ended: End | None = None
        """The end that the position does not show, or None."""
        self.taken_back: list[tuple[Node, End | None]] = []
        """``live`` and ``ended`` before each take-back since the last move, oldest first."""

    @property
    def last(self) -> Position:
        """The position after the last move of the game."""
        return self.live.position

    @property
    def shown(self) -> Position:
        """The position of the node shown."""
        return self.at.position

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.result()[0] != "*"

    @property
    def in_play(self) -> bool:
        """Whether the game is played, not viewed, and has not ended."""
        return self.played and not self.over

    def result(self) -> tuple[str, str]:
        """Return the result and a sentence on its reason; ``*`` and '' during the game.

        The reason of a result that a record states may be '', too.
        """
        outcome = self.last.outcome()
        if outcome is not None:
            return outcome.result, str(outcome)
        if self.ended is not None and self.ended.node is self.live:
            return self.ended.result, self.ended.reason
        return "*", ""

    # The game itself.

    def play(self, move: Move) -> None:
        """Play a move of the game; `InputError` if it is illegal or the game has ended."""
        if self.over:
            raise InputError(str(move), "the game is over; take a move back or start a new game")
        side, parent = self.last.side, self.live
        node = self.record.add(parent, move)
        if parent.children[0] is not node:
            self.record.put(node, 0)
        if self.at is parent:
            self.at = node
        self.live = node
        self.record.stop_at(node if node.children else None)
        self.version += 1
        self.offer = self.ended = None
        self.taken_back.clear()
        self.forget_edits()
        if self.clock is not None:
            self.clock.press(side)
            node.mark("clk", clock_text(self.clock.left(side)))

    def take_back(self, node: Node) -> None:
        """Take the game back to ``node``; the moves after it become a variation."""
        self.taken_back.append((self.live, self.ended))
        if self.over:  # The tags belong to the game that has ended, not to its continuation.
            self.record.tags = _new_tags()
        self.ended = None
        if self.clock is not None:
            self.clock.take_back(self.live.ply - node.ply)
        self._go_to(node)

    @property
    def can_replay(self) -> bool:
        """Whether `replay` can play again the moves of the last `take_back`."""
        return bool(self.taken_back) and self.record.find(self.taken_back[-1][0].number) is not None

    def replay(self) -> None:
        """Undo the last `take_back`; `InputError` if `can_replay` is false."""
        if not self.can_replay:
            raise InputError("redo", "no move has been taken back")
        node, self.ended = self.taken_back.pop()
        if self.clock is not None:
            self.clock.replay(node.ply - self.live.ply)
        self._make_main(node)
        self._go_to(node)

    def play_from(self, node: Node) -> None:
        """Continue the game from ``node``; the moves after it become variations.

        `InputError` if the game has ended there.
        """
        if node.position.outcome() is not None:
            reason = str(node.position.outcome())
            raise InputError("play on", message("the game is over here: {reason}", reason=reason))
        if not self.played or self.over:  # The tags belong to the game that was recorded.
            self.record.tags = _new_tags()
        self._make_main(node)
        self.played = True
        self.ended = None
        self.taken_back.clear()
        self._go_to(node)

    def _make_main(self, node: Node) -> None:
        """Make each move that leads to ``node`` the first child of its parent."""
        for each in node.line():
            if each.parent is not None and each.parent.children[0] is not each:
                self.record.put(each, 0)

    def _go_to(self, node: Node) -> None:
        """Make ``node`` the last move of the game and the node shown."""
        self.live = self.at = node
        self.record.stop_at(node if node.children else None)
        self.offer = None
        self.forget_edits()
        self.version += 1

    def resign(self, side: int) -> None:
        """End the game with the resignation of ``side``."""
        self._end(*_DECISIVE_ENDS[side, _RESIGNS])

    def agree(self) -> None:
        """End the game with a draw by agreement."""
        self._end(*_AGREED_DRAW)

    def flag(self) -> bool:
        """End the game if the time of the running side has run out; return whether it has."""
        if self.clock is None or self.over or self.clock.running is None:
            return False
        side = self.clock.running
        if self.clock.left(side) > 0:
            return False
        self._end(*_DECISIVE_ENDS[side, _OUT_OF_TIME])
        return True

    def _end(self, result: str, reason: str) -> None:
        self.ended = End(self.live, result, reason)
        self.record.stop_at(self.live if self.live.children else None)
        self.offer = None
        self.taken_back.clear()
        self.version += 1
        if self.clock is not None:
            self.clock.run(None)

    # Edits of variations and comments, which can be undone.

    @property
    def can_undo_edit(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._done)

    @property
    def can_redo_edit(self) -> bool:
        """Whether there is an undone edit to make again."""
        return bool(self._undone)

    def attempt(self, move: Move) -> None:
        """Play ``move`` in the position shown and show the result; add the move if it is new.

        `InputError` if the move is illegal.
        """
        record, parent = self.record, self.at
        index = len(parent.children)
        if parent is self.live and (self.over or self.played and parent.parent is not None):
            record.stop_at(parent)  # Makes the new move a variation.
        node = record.add(parent, move)
        if len(parent.children) == index:  # The move was in the tree already.
            self.at = node
            return
        self._edit(
            lambda: record.put(node, index), lambda: record.remove(node), self.live, node
        )

    def promote(self, node: Node) -> None:
        """Exchange the variation of ``node`` with the alternative before it.

        `InputError` if ``node`` is in the main line, or if the game that is played would no longer
        be the main line.
        """
        record = self.record
        while (
            node.parent is not None and node.parent.children[0] is node
            and node.parent is not record.stop
        ):  # fmt: skip
            node = node.parent
        if node.parent is None:
            raise InputError("promote", "this is already the main line")
        stop, children = node.parent, node.parent.children
        index = children.index(node)
        if self.played and (index == 0 or index == 1 and children[0] in self.live.line()):
            raise InputError("promote", "the game played here stays the main line")
        if index == 0:  # The variation continues the main line, which ended at its parent.
            self._edit(
                lambda: record.stop_at(None), lambda: record.stop_at(stop), self.live, self.at
            )
            return
        self._edit(
            lambda: record.put(node, index - 1), lambda: record.put(node, index), self.live, self.at
        )

    def delete(self, node: Node) -> None:
        """Remove a node and all nodes after it.

        `InputError` for the root, and for a move of a game that is played.
        """
        record, parent = self.record, node.parent
        if parent is None:
            raise InputError("delete", "the start position cannot be deleted; choose a move first")
        of_game = node in self.live.line()
        if of_game and self.played:
            during = "a move of the game cannot be deleted during the game"
            after = "a move of the game cannot be deleted after the game"
            raise InputError(str(node.move), during if self.in_play else after)
        index = parent.children.index(node)
        self._edit(
            lambda: record.remove(node), lambda: record.put(node, index),
            parent if of_game else self.live, parent if node in self.at.line() else self.at,
        )

    def comment(self, node: Node, text: str) -> None:
        """Set the comment on a node's move."""
        record, before = self.record, node.comment
        if text != before:
            self._edit(
                lambda: record.comment(node, text), lambda: record.comment(node, before),
                self.live, self.at,
            )

    def undo_edit(self) -> None:
        """Undo the last edit; `InputError` if there is none."""
        if not self._done:
            raise InputError("undo", "there is nothing to undo")
        edit = self._done.pop()
        edit.undo()
        self._undone.append(edit)
        self._show(edit.before)

    def redo_edit(self) -> None:
        """Make the last undone edit again; `InputError` if there is none."""
        if not self._undone:
            raise InputError("redo", "there is nothing to redo")
        edit = self._undone.pop()
        edit.redo()
        self._done.append(edit)
        self._show(edit.after)

    def forget_edits(self) -> None:
        """Keep all edits, but make it impossible to undo or redo them."""
        self._done.clear()
        self._undone.clear()

    def _edit(
        self, redo: Callable[[], object], undo: Callable[[], object], live: Node, at: Node
    ) -> None:
        """Make an edit, after which the last move is ``live`` and the node shown is ``at``."""
        before = self.live, self.at
        redo()
        after = (live if self.played else self.record.end(), at)
        self._done.append(_Edit(redo, undo, before, after))
        self._undone.clear()
        self._show(after)

    def _show(self, nodes: tuple[Node, Node]) -> None:
        self.live, self.at = nodes
        self.version += 1

    # Conversion to a record.

    def snapshot(self, names: tuple[str, str]) -> Record:
        """Return a copy of the record with the result.

        ``names`` are the players of a game that is played, White first. If the moves do not show
        the reason of the result, it becomes the comment on the last move, unless that has one.
        """
        record = self.record.copy()
        record.result, reason = self.result()
        end = record.end()
        if end.number != self.live.number:
            event = {"Event": "Analysis"} if self.played else {}
            record.tags = event | record.tags
            return record
        if self.last.outcome() is None:
            end.comment = end.comment or reason
        if self.played:
            tags = {"Event": "A game on the board", "White": names[WHITE], "Black": names[BLACK]}
            record.tags = tags | record.tags
        return record


def _new_tags() -> dict[str, str]:
    """Return the tags of a game that starts now."""
    return {"Date": datetime.now().strftime("%Y.%m.%d")}


def game_of(record: Record) -> Game:
    """Return a game that views ``record`` and shows its end; it changes and keeps ``record``."""
    game = Game(record)
    game.played = False
    record.tags = {key: value for key, value in record.tags.items() if key not in _DERIVED_TAGS}
    if record.drawn is not None:
        plies, outcome = record.drawn
        [record.root, *record.mainline()][plies].add_sentence(f"{outcome}; the record goes on")
    if record.result != "*":
        reason = game.live.comment
        # Older versions wrote the reason also if the moves show it.
        ends = (*_DECISIVE_ENDS.values(), _AGREED_DRAW, game.result())
        if (record.result, reason) in ends:
            # `snapshot` wrote this comment, which would be wrong after the game is continued.
            game.live.comment = ""
        else:
            reason = ""
        game.ended = End(game.live, record.result, reason)
    return game
