"""CodinGame's arena, which gives a player 50 ms a move.

It sends the player's number and the board's points once, and before each move the opponent's last
command, the board and all legal commands. It does not send the men in hand: they are counted here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole
from merels.engine.game.board import POINTS
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import MEN_PER_SIDE, make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.protocol.formats.codingame import parse_command

LIMIT = Limit(time=0.04)
"""The rest of the arena's 50 ms is for input and output."""
MOST_LINES = 10_000
RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])


class Arena:
    """One game in the arena, as player 0, who moves first, or 1."""

    def __init__(self, player: int) -> None:
        self._searcher = Searcher()
        self._searcher.prepare()
        self._moves = 0
        self._placed = [0, 0]
        self._side = player

    def move(self, opponents: str, board: str, commands: list[str]) -> str:
        """One of ``commands``, after the opponent's command."""
        if opponents.upper().startswith("PLACE"):
            self._placed[1 - self._side] += 1
        listed: dict[Move, str] = {}
        for command in commands:
            with suppress(InputError):
                listed[parse_command(command)] = command
        chosen = commands[0]
        position = self._position(board)
        legal = tuple(move for move in listed if position.is_legal(move))
        if legal and position.outcome() is None:
            result = self._searcher.search(position, LIMIT, root_moves=legal, overhead=0)
            if result.move is not None:
                chosen = listed[result.move]
        if chosen.upper().startswith("PLACE"):
            self._placed[self._side] += 1
        self._moves += 1
        return chosen

    def _position(self, board: str) -> Position:
        """The position from ``A1:2;A4:0;…``: 0 and 1 are the players, 2 is empty."""
        men = [0, 0]
        for entry in filter(None, board.split(";")):
            name, colon, owner = entry.partition(":")
            point = POINTS.get(name.strip().lower())
            if point is None or not colon or owner.strip() not in ("0", "1", "2"):
                raise InputError(entry, "expected POINT:OWNER, such as A1:2")
            if owner.strip() != "2":
                men[int(owner)] |= 1 << point
        hands = [
            max(0, min(MEN_PER_SIDE - placed, MEN_PER_SIDE - mask.bit_count()))
            for placed, mask in zip(self._placed, men)
        ]
        both = (men[0], men[1]), (hands[0], hands[1])
        return Position(RULES, *both, self._side, 0, self._moves + 1)


def main() -> None:
    """Play one game, to the end of standard input; `InputError` names an unexpected line."""
    lines = (line.strip() for line in sys.stdin)
    arena = Arena(read_whole(_next(lines, "the player's number"), 0, 1))
    for _ in range(read_whole(_next(lines, "the number of points"), 1, MOST_LINES)):
        _next(lines, "a point's neighbours")
    for opponents in lines:
        board = _next(lines, "the board")
        count = read_whole(_next(lines, "the number of commands"), 1, MOST_LINES)
        commands = [_next(lines, "a command") for _ in range(count)]
        print(arena.move(opponents, board, commands), flush=True)


def _next(lines: Iterator[str], what: str) -> str:
    line = next(lines, None)
    if line is None:
        raise InputError("", f"expected {what}, and the input ended")
    return line
