"""Game records of PlayOK: PGN in which points have the numbers 1 to 24, row by row.

A placement is ``7``, a move ``2-5``; with a removal they are ``7x12`` and ``2-5x9``.
"""

from __future__ import annotations

import re

from merels.engine.common.errors import InputError
from merels.engine.common.messages import Message, message
from merels.engine.game.board import NAMES, POINTS, SIZE
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE, Move
from merels.protocol.games.record import Record
from merels.protocol.games.writer import format_tags

ROW_BY_ROW: tuple[str, ...] = tuple(sorted(NAMES, key=lambda name: (-int(name[1]), name[0])))
"""The names of the points in the order of their numbers."""
NUMBERS: dict[str, int] = {name: number for number, name in enumerate(ROW_BY_ROW, 1)}
"""The number of each point, from 1 to 24, by its name."""

_MOVE = re.compile(r"(?:(\d{1,2})-)?(\d{1,2})((?:x\d{1,2}){0,2})")


def parse_playok_move(text: str) -> Move:
    """Return the move, legal or not, that ``text`` spells in numbers; else `InputError`."""
    match = _MOVE.fullmatch(text.lower())
    if match is None:
        raise InputError(text, "expected a move such as 7, 7x12, 2-5 or 2-5x9")
    numbers = [int(word) for word in re.findall(r"\d+", text)]
    for number in numbers:
        if not 1 <= number <= SIZE:
            raise InputError(text, f"expected points from 1 to {SIZE}, found {number}")
    if len(set(numbers)) != len(numbers):
        raise InputError(text, "expected each point once")
    points = [POINTS[ROW_BY_ROW[number - 1]] for number in numbers]
    origin = points.pop(0) if match[1] is not None else None
    to, *removed = points
    return Move(origin, to, tuple(sorted(removed, key=NAMES.__getitem__)))


def format_playok_move(move: Move) -> str:
    """Return a move in numbers."""
    start = "" if move.origin is None else f"{_number(move.origin)}-"
    return start + str(_number(move.to)) + "".join(f"x{_number(man)}" for man in move.removed)


def _number(point: int) -> int:
    return NUMBERS[NAMES[point]]


def format_playok(record: Record) -> str:
    """Return a record in PlayOK's form.

    `InputError` if the record does not begin at the starting position.
    """
    first = format_position(record.start)
    if first != START:
        raise InputError(first, "PlayOK records begin at the starting position")
    words: list[str] = []
    for index, move in enumerate(record.moves):
        if index % 2 == WHITE:
            words.append(f"{index // 2 + 1}.")
        words.append(format_playok_move(move))
    words.append(record.result)
    return format_tags(record) + "\n" + " ".join(words) + "\n"


def in_numbers(text: str) -> str:
    """Return an error message with the names of points replaced by their numbers."""
    if isinstance(text, Message):
        values = {name: in_numbers(str(value)) for name, value in text.values.items()}
        return message(text.template, **values)
    return re.sub(r"[a-g][1-7]", lambda match: str(NUMBERS.get(match[0], match[0])), text)
