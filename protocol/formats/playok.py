"""PlayOK's records: PGN with points numbered 1 to 24, row by row.

A move is ``7`` (placing a man) or ``2-5`` (moving one), and ``7x12`` or ``2-5x9`` with a removal.
"""

from __future__ import annotations

import re
from dataclasses import replace

from merels.engine.game.board import NAMES, POINTS, SIZE
from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import WHITE, Move
from merels.engine.game.record import RESULTS, ROSTER, Record, format_record
from merels.engine.game.record_reader import parse_record
from merels.engine.game.rules import DEFAULT_RULES, Rules

ROW_BY_ROW: tuple[str, ...] = tuple(sorted(NAMES, key=lambda name: (-int(name[1]), name[0])))
"""The points in the order of their numbers, from 1."""
NUMBERS: dict[str, int] = {name: number for number, name in enumerate(ROW_BY_ROW, 1)}

_MOVE = re.compile(r"(?:(\d{1,2})-)?(\d{1,2})((?:x\d{1,2}){0,2})")
_PIECES = re.compile(r'(\[[^\]"]*"(?:[^"\\]|\\.)*"\s*\]|\{[^}]*\}|;[^\n]*|\s+)')
_NUMBER = re.compile(r"(\d+\.+)?(.*)", re.DOTALL)
_OF_A_MOVE = re.compile(r"\(line \d+\)\Z")
"""How `parse_record` ends a message about a move, and no other message."""


def parse_playok_move(text: str) -> Move:
    """A move from its numbers, legal or not; `InputError` for anything else."""
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
    """A move in numbers."""
    start = "" if move.origin is None else f"{_number(move.origin)}-"
    return start + str(_number(move.to)) + "".join(f"x{_number(man)}" for man in move.removed)


def _number(point: int) -> int:
    return NUMBERS[NAMES[point]]


def is_playok(text: str) -> bool:
    """Whether a record's first move is written in numbers."""
    for piece in _PIECES.split(text):
        rest = None if _PIECES.fullmatch(piece) else _NUMBER.fullmatch(piece)
        if rest is not None and rest[2] and rest[2] not in RESULTS:
            return rest[2][0].isdigit()
    return False


def parse_playok(text: str, rules: Rules = DEFAULT_RULES, line: int = 1) -> Record:
    """The game of a record; `InputError` names the word at fault and its line.

    ``line`` is the text's first.
    """
    pieces = []
    first = line
    for piece in _PIECES.split(text):
        if _PIECES.fullmatch(piece) or not piece:
            pieces.append(piece)
            line += piece.count("\n")
            continue
        match = _NUMBER.fullmatch(piece)
        assert match is not None
        number, word = match[1] or "", match[2]
        # A tag or comment without an end is left for `parse_record` to report.
        if word and word not in RESULTS and word[0] not in "{[":
            try:
                word = str(parse_playok_move(word))
            except InputError as error:
                raise InputError(word, f"{error.expected} (line {line})") from None
        pieces.append(f"{number} {word}" if number else word)
    # The words are translated in place, so that `parse_record` counts the same lines.
    try:
        return parse_record("".join(pieces), rules, first)
    except InputError as error:
        if not _OF_A_MOVE.search(error.expected):
            raise
        raise InputError(_in_numbers(error.token), _in_numbers(error.expected)) from None


def format_playok(record: Record) -> str:
    """A record as text; `InputError` if the game does not begin at the starting position."""
    first = format_position(record.start)
    if first != START:
        raise InputError(first, "PlayOK records begin at the starting position")
    tags = dict.fromkeys(ROSTER, "?") | record.tags | {"Result": record.result}
    tags["Variant"] = str(record.start.rules)
    bare = replace(record, moves=[], comments=[], tags=tags)
    head = format_record(bare).partition("\n\n")[0]
    words: list[str] = []
    for index, move in enumerate(record.moves):
        if index % 2 == WHITE:
            words.append(f"{index // 2 + 1}.")
        words.append(format_playok_move(move))
    words.append(record.result)
    return head + "\n\n" + " ".join(words) + "\n"


def _in_numbers(text: str) -> str:
    """An error message with its points as the numbers that the user wrote."""
    return re.sub(r"[a-g][1-7]", lambda match: str(NUMBERS.get(match[0], match[0])), text)
