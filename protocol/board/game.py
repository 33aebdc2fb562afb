"""A game on the board: its moves, the position shown, and the clock."""

from __future__ import annotations

from datetime import date
from time import monotonic

from merels.engine.game.errors import InputError
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Position
from merels.engine.game.record import Record

_RESIGNS, _OUT_OF_TIME = "resigns", "is out of time"
_ENDINGS = {
    (loser, how): (("0-1", "1-0")[loser], f"{COLOURS[1 - loser]} wins, {COLOURS[loser]} {how}")
    for loser in (WHITE, BLACK)
    for how in (_RESIGNS, _OUT_OF_TIME)
}
"""Result and reason of games that do not end on the board."""


class Clock:
    """The time of both sides in seconds, of which one side's may run.

    It remembers the times before each move, so that moves can be taken back.
    """

    def __init__(self, base: float, increment: float) -> None:
        self.increment = increment
        self._left = [base, base]
        self._history: list[tuple[float, float]] = []
        self.running: int | None = None
        """The side whose time runs; `run` sets it."""
        self._since = 0.0

    def left(self, side: int) -> float:
        """A side's remaining seconds, perhaps less than 0."""
        spent = monotonic() - self._since if side == self.running else 0.0
        return self._left[side] - spent

    def run(self, side: int | None) -> None:
        """Let only one side's time run, or with None neither's."""
        if side == self.running:
            return
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
        self.running, self._since = side, monotonic()

    def press(self, side: int) -> None:
        """End a side's move and add its increment."""
        self._history.append((self._left[WHITE], self._left[BLACK]))
        running = self.running == side
        self.run(None)
        if running:
            self._left[side] += self.increment

    def take_back(self, moves: int) -> None:
        """Restore the times before the last ``moves``."""
        self.run(None)
        for _ in range(moves):
            if self._history:
                self._left = list(self._history.pop())


class Game:
    """The moves from a start position; the one after ``cursor`` of them is shown."""

    def __init__(self, start: Position, clock: Clock | None = None) -> None:
        self.positions = [start]
        self.moves: list[Move] = []
        self.opening_comment = ""
        self.comments: list[str] = []
        self.tags: dict[str, str] = {}
        self.cursor = 0
        self.clock = clock
        self.ended: tuple[str, str] | None = None
        """Result and reason of a game that was resigned or lost on time."""
        self.stated = ("*", "")
        """The result that an opened record states, and its reason if the board wrote it."""

    @property
    def last(self) -> Position:
        """The position after all moves."""
        return self.positions[-1]

    @property
    def shown(self) -> Position:
        """The position shown."""
        return self.positions[self.cursor]

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.ended is not None or self.last.outcome() is not None

    def result(self) -> tuple[str, str]:
        """The result and the reason in words; ``*`` and nothing during the game."""
        if self.ended is not None:
            return self.ended
        outcome = self.last.outcome()
        return self.stated if outcome is None else (outcome.result, str(outcome))

    def play(self, move: Move) -> None:
        """Play a move in the position shown, in place of those that followed it."""
        if self.over and self.cursor == len(self.moves):
            raise InputError(str(move), "the game is over; take a move back or begin a new one")
        position = self.shown
        after = position.push(move)
        self.cut(self.cursor)
        self.moves.append(move)
        self.comments.append("")
        self.positions.append(after)
        self.cursor = len(self.moves)
        if self.clock is not None:
            self.clock.press(position.side)

    def cut(self, ply: int) -> None:
        """Take back the moves after the first ``ply``."""
        removed = len(self.moves) - ply
        del self.moves[ply:], self.comments[ply:], self.positions[ply + 1 :]
        self.cursor = min(self.cursor, ply)
        self.ended = None
        self.stated = ("*", "")
        if self.clock is not None and removed:
            self.clock.take_back(removed)

    def resign(self, side: int) -> None:
        """End the game: a side resigns."""
        self._end(side, _RESIGNS)

    def flag(self) -> bool:
        """End the game if a side's time has run out; whether it has."""
        if self.clock is None or self.over or self.clock.running is None:
            return False
        side = self.clock.running
        if self.clock.left(side) > 0:
            return False
        self._end(side, _OUT_OF_TIME)
        return True

    def _end(self, loser: int, how: str) -> None:
        self.ended = _ENDINGS[loser, how]
        if self.clock is not None:
            self.clock.run(None)

    def record(self, names: tuple[str, str]) -> Record:
        """The game as a record; ``names`` are White's and Black's."""
        result, reason = self.result()
        comments = list(self.comments)
        if comments and reason and not comments[-1]:
            comments[-1] = reason
        tags = {
            "Event": "A game on the board",
            "Date": date.today().strftime("%Y.%m.%d"),
            "White": names[WHITE],
            "Black": names[BLACK],
        }
        return Record(
            self.positions[0], list(self.moves), comments, result, tags | self.tags,
            self.opening_comment,
        )


def from_record(record: Record) -> Game:
    """The game of a record, shown at its end."""
    game = Game(record.start)
    for move in record.moves:
        game.play(move)
    game.opening_comment = record.opening_comment
    game.comments = [*record.comments, *[""] * len(record.moves)][: len(record.moves)]
    game.tags = {key: value for key, value in record.tags.items() if key not in _DERIVED_TAGS}
    game.stated = record.result, ""
    if game.comments and (record.result, game.comments[-1]) in _ENDINGS.values():
        # The comment is true only while the last move is the end of the game.
        game.stated = record.result, game.comments[-1]
        game.comments[-1] = ""
    return game


_DERIVED_TAGS = ("Result", "Variant", "FEN", "SetUp")
