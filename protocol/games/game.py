"""A game on the board: its tree of moves, where it stands, the position shown, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.protocol.games.clock import Clock, clock_text
from merels.protocol.games.record import Node, Record

_RESIGNS, _OUT_OF_TIME = "resigns", "is out of time"
_ENDINGS = {
    (loser, how): (("0-1", "1-0")[loser], f"{COLOURS[1 - loser]} wins, {COLOURS[loser]} {how}")
    for loser in (WHITE, BLACK)
    for how in (_RESIGNS, _OUT_OF_TIME)
}
"""Result and reason of games that do not end on the board."""
_AGREED = ("1/2-1/2", "Draw by agreement")
_DERIVED_TAGS = ("Result", "Variant", "FEN", "SetUp", "PlyCount")


class End(NamedTuple):
    """The end of a game that did not end on the board: where, the result and the reason."""

    node: Node
    result: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change of the tree, with where the game stands and what is shown before and after it."""

    redo: Callable[[], object]
    undo: Callable[[], object]
    before: tuple[Node, Node]
    after: tuple[Node, Node]


class Game:
    """A game with its clock and its result, and what is looked at and tried beside it.

    The game stands at the node ``live``: while it is ``played`` where its players are, else at the
    end of the record's main line. The node ``at`` is shown. Variations and comments can be undone,
    the last first, until the game goes on.
    """

    def __init__(self, start: Position | Record) -> None:
        self.record = Record(start, tags=_new_tags()) if isinstance(start, Position) else start
        self.live = self.at = self.record.end()
        self.played = True
        self.version = 0
        """Increased by every change of moves, comments or result."""
        self._done: list[_Edit] = []
        self._undone: list[_Edit] = []
        self.clock: Clock | None = None
        self.offer: int | None = None
        """The side that offers a draw."""
        self.ended: End | None = None
        """How a game ended that did not end on the board."""
        self.taken_back: list[tuple[Node, End | None]] = []
        """Where the game stood, and how it had ended, before moves were taken back."""

    @property
    def last(self) -> Position:
        """The position in which the game stands."""
        return self.live.position

    @property
    def shown(self) -> Position:
        """The position shown."""
        return self.at.position

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.result()[0] != "*"

    @property
    def settled(self) -> bool:
        """Whether moves tried after the last move of the game are variations."""
        return self.over or self.played and self.live.parent is not None

    @property
    def in_play(self) -> bool:
        """Whether the game is played and goes on."""
        return self.played and not self.over

    def result(self) -> tuple[str, str]:
        """The result and the reason in words; ``*`` and nothing during the game.

        A record may state a result without a reason.
        """
        outcome = self.last.outcome()
        if outcome is not None:
            return outcome.result, str(outcome)
        if self.ended is not None and self.ended.node is self.live:
            return self.ended.result, self.ended.reason
        return "*", ""

    # The game itself.

    def play(self, move: Move) -> None:
        """Play a move of the game."""
        if self.over:
            raise InputError(str(move), "the game is over; take a move back or begin a new one")
        side, before = self.last.side, self.live
        node = self.record.add(before, move)
        if before.children[0] is not node:
            self.record.put(node, 0)
        if self.at is before:
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
        """Take the game back to where it was before; the moves played become a variation."""
        self.taken_back.append((self.live, self.ended))
        if self.over:  # The game that goes on is another than the one that has ended.
            self.record.tags = _new_tags()
        self.ended = None
        if self.clock is not None:
            self.clock.take_back(self.live.ply - node.ply)
        self._stand(node)

    @property
    def can_replay(self) -> bool:
        """Whether what was taken back last can be played again."""
        return bool(self.taken_back) and self.record.find(self.taken_back[-1][0].number) is not None

    def replay(self) -> None:
        """Play again what was taken back last."""
        if not self.can_replay:
            raise InputError("redo", "no move has been taken back")
        node, self.ended = self.taken_back.pop()
        if self.clock is not None:
            self.clock.replay(node.ply - self.live.ply)
        self._make_main(node)
        self._stand(node)

    def play_from(self, node: Node) -> None:
        """Let the game go on from a node, in place of the moves that it had there."""
        if node.position.outcome() is not None:
            raise InputError("play on", f"the game is over here: {node.position.outcome()}")
        if not self.played or self.over:  # The continuation is another game than the recorded one.
            self.record.tags = _new_tags()
        self._make_main(node)
        self.played = True
        self.ended = None
        self.taken_back.clear()
        self.forget_edits()
        self._stand(node)

    def _make_main(self, node: Node) -> None:
        """Let the main line lead to a node."""
        for one in node.line():
            if one.parent is not None and one.parent.children[0] is not one:
                self.record.put(one, 0)

    def _stand(self, node: Node) -> None:
        self.live = self.at = node
        self.record.stop_at(node if node.children else None)
        self.offer = None
        self.version += 1

    def resign(self, side: int) -> None:
        """End the game: a side resigns."""
        self._end(*_ENDINGS[side, _RESIGNS])

    def agree(self) -> None:
        """End the game: both sides agree on a draw."""
        self._end(*_AGREED)

    def flag(self) -> bool:
        """End the game if a side's time has run out; whether it has."""
        if self.clock is None or self.over or self.clock.running is None:
            return False
        side = self.clock.running
        if self.clock.left(side) > 0:
            return False
        self._end(*_ENDINGS[side, _OUT_OF_TIME])
        return True

    def _end(self, result: str, reason: str) -> None:
        self.ended = End(self.live, result, reason)
        self.record.stop_at(self.live if self.live.children else None)
        self.offer = None
        self.taken_back.clear()
        self.version += 1
        if self.clock is not None:
            self.clock.run(None)

    # Variations and comments, which can be undone.

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

    # As a record.

    def snapshot(self, names: tuple[str, str]) -> Record:
        """A copy of the record with the result; ``names`` are White's and Black's, if it is played.

        The comment of the last move states the reason of the end, unless it has another one.
        """
        record = self.record.copy()
        record.result, reason = self.result()
        end = record.end()
        if end.number == self.live.number:
            end.comment = end.comment or reason
        if self.played:
            tags = {"Event": "A game on the board", "White": names[WHITE], "Black": names[BLACK]}
            record.tags = tags | record.tags
        return record


def _new_tags() -> dict[str, str]:
    """The tags of a game that begins now."""
    return {"Date": datetime.now().strftime("%Y.%m.%d")}


def game_of(record: Record) -> Game:
    """The game of a record, which it takes over, shown at its end, to be looked at."""
    game = Game(record)
    game.played = False
    record.tags = {key: value for key, value in record.tags.items() if key not in _DERIVED_TAGS}
    if record.drawn is not None:
        plies, outcome = record.drawn
        node = [record.root, *record.line()][plies]
        mark = f"{outcome}; the record goes on"
        if mark not in node.comment:
            node.comment = "; ".join(filter(None, (node.comment, mark)))
    if record.result != "*":
        reason = game.live.comment
        if (record.result, reason) in (*_ENDINGS.values(), _AGREED):
            # The comment is true only while the last move is the end of the game.
            game.live.comment = ""
        else:
            reason = ""
        game.ended = End(game.live, record.result, reason)
    return game
