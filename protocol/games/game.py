"""A game on the board: its tree of moves, where it stands, the position shown, and the clock."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.protocol.games.clock import Clock, clock_text
from merels.protocol.games.record import Node, Record
from merels.protocol.games.variations import Variations

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


class Game(Variations):
    """A game with its clock and its result; its moves are the main line of the record."""

    def __init__(self, start: Position | Record) -> None:
        super().__init__(
            start if isinstance(start, Record) else Record(start, tags=_new_tags())
        )
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
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.result()[0] != "*"

    @property
    def settled(self) -> bool:
        """Whether moves tried after the last move of the game are variations."""
        return self.over or super().settled

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
        return bool(self.taken_back) and self.taken_back[-1][0] in self.record

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
