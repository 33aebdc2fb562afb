"""Puzzles and files of puzzles, one JSON object a line; FORMAT.md describes the file."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from io import BytesIO
from math import log2
from pathlib import Path
from typing import Any

from merels.engine.common.errors import InputError, placed
from merels.engine.game.notation import format_position, parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import parse_rules
from merels.protocol.common.text_file import decode

GOALS = {1: "win", 0: "draw"}
"""The goal of the side to move, by the position's value."""
_VALUES = {goal: value for value, goal in GOALS.items()}
STANDARD_FILE = "standard.jsonl.gz"
"""Name of the file of puzzles of the default rules that is installed with this package."""
LARGEST_FILE = 1 << 24
"""Bytes of a file of puzzles, at most, both packed and unpacked."""
_GZIP = b"\x1f\x8b"
_LOWEST_RATING, _PER_SCARCITY, _PER_DEPTH = 600, 100, 150
"""Rating points: base, per halving of the share of right moves, per doubling of depth + 1."""


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A position in which only one move keeps the value; moves of equal effect count as one."""

    position: Position
    value: int
    """1 if the side to move wins, 0 if it draws and every other move loses."""
    line: tuple[Move, ...]
    """The solution: the only move, then replies and further only moves in turn."""
    equal: tuple[Move, ...]
    """Moves as good as the last move of ``line``: they differ from it in the man removed, or by a
    symmetry of the board."""
    holding: int
    """Number of legal moves in ``position`` that keep the value."""
    moves: int
    """Number of legal moves in ``position``."""
    depth: int | None
    """Plies to the next removal or the end of the game; None if unknown."""

    @property
    def goal(self) -> str:
        """``win`` or ``draw``."""
        return GOALS[self.value]

    @property
    def rating(self) -> int:
        """Difficulty on a scale like Elo's: it rises with depth and the share of wrong moves."""
        depth = len(self.line) if self.depth is None else self.depth
        scarcity = log2(self.moves / self.holding)
        return round(_LOWEST_RATING + _PER_SCARCITY * scarcity + _PER_DEPTH * log2(1 + depth))

    def solves(self, step: int, move: Move) -> bool:
        """Return whether ``move`` is right in place of ``line[step]``."""
        last = step == len(self.line) - 1
        return move == self.line[step] or last and move in self.equal

    def to_json(self, themes: Sequence[str] = ()) -> str:
        """Return the puzzle with its themes as a line of a file, without its line feed."""
        row = {
            "position": format_position(self.position), "rules": str(self.position.rules),
            "goal": self.goal,
            "line": [str(move) for move in self.line],
            "equal": [str(move) for move in self.equal], "rating": self.rating,
            "holding": self.holding, "moves": self.moves, "depth": self.depth,
            "themes": list(themes),
        }  # fmt: skip
        return json.dumps(row)


def load(path: Path) -> list[Puzzle]:
    """Read a file of puzzles, which may be packed by gzip; `InputError` names an invalid line.

    `InputError` if the file, or its unpacked content, has more than `LARGEST_FILE` bytes.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if data.startswith(_GZIP) and len(data) <= LARGEST_FILE:
            data = gzip.GzipFile(fileobj=BytesIO(data)).read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            limit = f"expected at most {LARGEST_FILE >> 20} MiB of unpacked puzzles"
            raise InputError(str(path), f"{limit}; divide them into several files")
        text = decode(data)
    except UnicodeError:
        raise InputError(str(path), "expected a text file of puzzles, in UTF-8") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(str(path), f"cannot unpack this file: {error}; make it again") from None
    except OSError as error:
        raise InputError(str(path), f"cannot read this file: {error.strerror}") from None
    return list(_read(path, text))


@cache
def standard_puzzles() -> Sequence[Puzzle]:
    """Return the puzzles of the default rules that are installed with this package."""
    with as_file(files("merels.protocol.puzzles").joinpath(STANDARD_FILE)) as path:
        return load(path)


def pack(text: str, path: Path) -> bytes:
    """Return the content of the file ``path``, packed if its name ends in ``.gz``."""
    data = text.encode()
    return gzip.compress(data, mtime=0) if path.suffix == ".gz" else data


def _read(path: Path, text: str) -> Iterator[Puzzle]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            yield _parse(json.loads(line))
        except InputError as error:
            raise placed(error, f"line {number} of {path}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fault = InputError(line, "expected a puzzle in the form that 'merels puzzles' writes")
            raise placed(fault, f"line {number} of {path}") from None


def _parse(row: dict[str, Any]) -> Puzzle:
    """Parse a line's JSON object; errors are those that `_read` catches."""
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
