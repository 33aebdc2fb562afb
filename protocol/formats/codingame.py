"""CodinGame's commands: points in capitals, separated by semicolons.

``PLACE;A1``, ``PLACE&TAKE;A1;D1``, ``MOVE;A1;A4`` and ``MOVE&TAKE;A1;A4;D1``.
"""

from __future__ import annotations

from merels.engine.common.errors import InputError, shorten
from merels.engine.game.board import NAMES, POINTS
from merels.engine.game.position import Move

_SHAPES = {"PLACE": (1, 0), "PLACE&TAKE": (1, 1), "MOVE": (2, 0), "MOVE&TAKE": (2, 1)}
"""For each command, the number of points on the man's way and of men removed."""


def parse_command(text: str) -> Move:
    """A move from its command, legal or not; `InputError` for anything else."""
    word, *names = text.split(";")
    word = word.strip()
    shape = _SHAPES.get(word.upper())
    if shape is None:
        raise InputError(text, f"expected a command: {', '.join(_SHAPES)}")
    names = [name.strip().lower() for name in names]
    if len(names) != sum(shape):
        raise InputError(text, f"expected {sum(shape)} points after {word}, found {len(names)}")
    for name in names:
        if name not in POINTS:
            raise InputError(text, f"'{shorten(name.upper())}' is not a point of the board")
    if len(set(names)) != len(names):
        raise InputError(text, "expected each point once")
    points = [POINTS[name] for name in names]
    origin = points.pop(0) if shape[0] == 2 else None
    return Move(origin, points[0], tuple(points[1:]))


def format_command(move: Move) -> str:
    """The command of a move; `InputError` if it removes two men, which no command can."""
    if len(move.removed) > 1:
        raise InputError(str(move), "a command removes at most one man")
    word = ("PLACE" if move.origin is None else "MOVE") + ("&TAKE" if move.removed else "")
    points = ([] if move.origin is None else [move.origin]) + [move.to, *move.removed]
    return ";".join([word, *(NAMES[point].upper() for point in points)])
