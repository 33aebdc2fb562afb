"""A puzzle, and files of puzzles: a JSON object in each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position, parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import parse_rules

GOALS = {1: "win", 0: "draw"}
"""The goal of the side to move, by the position's value."""
_VALUES = {goal: value for value, goal in GOALS.items()}
_EASIEST, _FEW, _DEEP = 600, 100, 150


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which only one move reaches what can be reached.

    ``value`` is 1 where it wins, 0 where it draws and all others lose. ``line`` begins with that
    move; replies and further only moves follow in turn. ``equal`` are the moves as good as its
    last one, all of the same effect: they differ in the man removed or by a symmetry of the board.
    ``holding`` of ``moves`` legal moves reach the goal. ``depth`` is in plies to the next removal
    or the end of the game; None where it is not known.
    """

    position: Position
    value: int
    line: tuple[Move, ...]
    equal: tuple[Move, ...]
    holding: int
    moves: int
    depth: int | None

    @property
    def goal(self) -> str:
        """``win`` or ``draw``."""
        return GOALS[self.value]

    @property
    def rating(self) -> int:
        """How hard it is, on a scale like Elo's: the fewer moves and the deeper, the harder."""
        depth = len(self.line) if self.depth is None else self.depth
        scarce = log2(self.moves / self.holding)
        return round(_EASIEST + _FEW * scarce + _DEEP * log2(1 + depth))

    def solves(self, step: int, move: Move) -> bool:
        """Whether a move is right at a place in the line."""
        last = step == len(self.line) - 1
        return move == self.line[step] or last and move in self.equal

    def to_json(self) -> str:
        """The puzzle as a line of a file."""
        row = {
            "position": format_position(self.position), "rules": str(self.position.rules),
            "goal": self.goal,
            "line": [str(move) for move in self.line],
            "equal": [str(move) for move in self.equal], "rating": self.rating,
            "holding": self.holding, "moves": self.moves, "depth": self.depth,
        }  # fmt: skip
        return json.dumps(row)


def load(path: Path) -> list[Puzzle]:
    """The puzzles of a file; `InputError` names what is wrong, and in which line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(str(path), "expected a file of puzzles, found no text") from None
    return list(_read(path, text))


def _read(path: Path, text: str) -> Iterator[Puzzle]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            yield _parse(json.loads(line))
        except InputError as error:
            raise InputError(f"{path}:{number}", str(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"{path}:{number}", "expected a puzzle as merels puzzles writes it"
            ) from None


def _parse(row: dict[str, Any]) -> Puzzle:
    """The puzzle of a line's JSON object; `InputError` if its moves are not legal."""
    position = parse_position(row["position"], parse_rules(row["rules"]))
    line = tuple(map(parse_move, row["line"]))
    equal = tuple(map(parse_move, row["equal"]))
    depth, counts = row["depth"], (row["holding"], row["moves"])
    if len(line) % 2 == 0 or not all(isinstance(n, int) for n in (*counts, depth or 0)):
        raise ValueError
    if not 1 <= counts[0] <= counts[1] or (depth or 0) < 0:
        raise ValueError
    after = position
    for move in line:
        before, after = after, after.push(move)
    for move in equal:
        before.push(move)
    return Puzzle(position, _VALUES[row["goal"]], line, equal, *counts, depth)
