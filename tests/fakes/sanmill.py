"""An engine that speaks Sanmill's dialect: plays the first step by text, removes the last man.

A removal is a separate token and needs a separate search, ``bestmove`` is at the end of the info
line, and scores are from White's view. The options and the ``fen`` line are those of Sanmill.
"""

from __future__ import annotations

import sys

from merels.engine.game.board import NAMES, format_board
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Move, Position

OPTIONS = """\
option name SkillLevel type spin default 1 min 0 max 30
option name MoveTimeMs type spin default 1000 min 0 max 60000
option name Algorithm type spin default 2 min 0 max 4
option name NMoveRule type spin default 100 min 10 max 200
option name EndgameNMoveRule type spin default 100 min 5 max 200
option name Shuffling type check default true
option name DeveloperMode type check default true
"""


class Sanmill:
    """The engine's state, and its answers to commands."""

    def __init__(self) -> None:
        self.position = Position()
        self.pending: Move | None = None
        """While a removal is due: a move with the step that closed the mill, not yet played."""
        self.settings: dict[str, str] = {}

    def moves(self) -> list[Move]:
        """Return the legal moves; while a removal is due, only those with the last step."""
        moves = self.position.legal_moves()
        if self.pending is None:
            return moves
        return [move for move in moves if move[:2] == self.pending[:2]]

    def play(self, token: str) -> None:
        """Play one step; ValueError for a complete move in one token, which Sanmill rejects."""
        for move in self.moves():
            step = str(move).split("x")
            if self.pending is None and step[0] == token:
                if move.removed:
                    self.pending = move
                else:
                    self.position = self.position.play(move)
                return
            if self.pending is not None and token == "x" + step[1]:
                self.position = self.position.play(move)
                self.pending = None
                return
        raise ValueError(token)

    def set_position(self, words: list[str]) -> None:
        """Set up the position of a ``position`` line."""
        at = words.index("moves") if "moves" in words else len(words)
        if words[1] == "fen":
            if at - 2 < 17:
                raise ValueError("a position has 17 fields")
            if "-1" in words[2:at] and "ids:nodes" not in words[2:at]:
                raise ValueError("without ids:nodes a square is 0 or 8 to 31")
            self.position = parse_position(" ".join(words[2:at]))
        else:
            self.position = Position()
        self.pending = None
        for token in words[at + 1 :]:
            self.play(token)

    def go(self) -> str:
        """Return the line that answers ``go``."""
        moves = self.moves()
        if self.pending is None and self.position.outcome() is not None:
            return "info depth 0 score cp 0 nodes 1 bestmove none"
        if self.pending is not None:
            best = "x" + sorted(NAMES[move.removed[0]] for move in moves)[-1]
        else:
            best = str(min(moves, key=str)).split("x")[0]
        lead = self.position.total(WHITE) - self.position.total(BLACK)
        return f"info depth 6 score cp {100 * lead} nodes 8147 bestmove {best}"

    def fen(self) -> str:
        """Return the ``fen`` line with 17 fields, also while a removal is due."""
        position, pending = self.position, self.pending
        men, hands, phase, action = position.men, position.hands, "m", "s"
        if position.hands[position.side]:
            phase, action = "p", "p"
        removals_due = [0, 0]
        if pending is not None:
            action, removals_due[position.side] = "r", 1
            men = position.play(Move(pending.origin, pending.to)).men
            hands = position.play(Move(pending.origin, pending.to)).hands
        side = "wb"[position.side]
        return (
            f"fen {format_board(men)} {side} {phase} {action} "
            f"{men[0].bit_count()} {hands[0]} {men[1].bit_count()} {hands[1]} "
            f"{removals_due[0]} {removals_due[1]} -1 -1 -1 -1 0 {position.plies} "
            f"{position.number} ids:nodes"
        )

    def obey(self, line: str) -> bool:
        """Carry out one command; return False for ``quit``."""
        words = line.split()
        command = words[0] if words else ""
        if command == "uci":
            print(f"id name Sanmill\nid author its authors\n{OPTIONS}uciok")
        elif command == "isready":
            print("readyok")
        elif command == "setoption":
            at = words.index("value")
            self.settings[" ".join(words[2:at])] = " ".join(words[at + 1 :])
        elif command == "settings":
            print(*(f"{name}={value}" for name, value in self.settings.items()))
        elif command == "position":
            try:
                self.set_position(words)
            except ValueError as error:
                print(f"info string error {error}")
        elif command == "fen":
            print(self.fen())
        elif command == "go":
            print(self.go())
        sys.stdout.flush()
        return command != "quit"


def main() -> None:
    """Read commands to the end of the input."""
    sanmill = Sanmill()
    for line in sys.stdin:
        if not sanmill.obey(line):
            break


if __name__ == "__main__":
    main()
