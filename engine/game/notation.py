"""Moves and positions as text.

A move is one token: ``d6``, ``d6xb4``, ``d6-d5``, ``a4xb2xd6``. A position has six fields, or the
17 fields of Sanmill. Malformed text raises `InputError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from merels.engine.common.errors import InputError, required_items, required_text
from merels.engine.game.board import POINTS, format_board
from merels.engine.game.fields import SIDES as SIDES
from merels.engine.game.fields import START as START
from merels.engine.game.fields import counters, read_fields
from merels.engine.game.position import (
    BLACK,
    WHITE,
    Move,
    Position,
    read_move,
    required_position,
)
from merels.engine.game.rules import DEFAULT_RULES, Rules

parse_move = Move.from_text


def is_removal(token: str) -> bool:
    """Return whether a token begins with ``x`` and a point, as a removal does.

    `Move.from_text` checks the rest, whereas ``xyz`` is a token of another kind.
    """
    return token[:1] in ("x", "X") and token[1:3].lower() in POINTS


def join_steps(tokens: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield complete moves, each with the index of its first token.

    Some engines write a removal as a separate token (``d6-d5 xc3``). `InputError` for a removal
    without a move before it; the moves themselves are not checked.
    """
    start, move = 0, ""
    for index, token in enumerate(tokens):
        required_text(token, "a move")
        if is_removal(token):
            if not move:
                raise InputError(token, "expected a move before the removal", index)
            move += token
            continue
        if move:
            yield start, move
        start, move = index, token
    if move:
        yield start, move


def play_moves(position: Position, tokens: Sequence[str]) -> Position:
    """Return the position after some moves; `InputError` names a token that is no legal move."""
    required_position(position)
    required_items(tokens, "moves; text.split() makes one")
    for index, token in join_steps(tokens):
        try:
            position = position.push(token)
        except InputError as error:
            raise error.at(index) from None
    return position


def parse_position(text: str, rules: Rules = DEFAULT_RULES) -> Position:
    """Return the position of a text with six fields, or with the 17 fields of Sanmill.

    An `InputError` about one field has that field's index, counted from 0.
    """
    return Position.of(rules, *read_fields(text))


def format_position(position: Position) -> str:
    """Return the six fields of a position."""
    return required_position(position).fen()


def format_seventeen(position: Position) -> str:
    """Return the position in the 17 fields of Sanmill, with no removal due.

    Seven fields are 0: two counts of removals due, four points of last mills, and a mask of mills.
    As a point of a last mill, 0 is "none" in Sanmill's old numbering of squares. The newer -1 needs
    an 18th token, ``ids:nodes``, which only newer versions of Sanmill read.
    """
    required_position(position)
    white, black = position.men
    placing = position.hands[position.side] > 0
    phase = "o" if position.outcome() else "p" if placing else "m"
    return (
        f"{format_board(position.men)} {SIDES[position.side]} {phase} {'p' if placing else 's'} "
        f"{white.bit_count()} {position.hands[WHITE]} {black.bit_count()} {position.hands[BLACK]} "
        f"0 0 0 0 0 0 0 {counters(position.plies, position.number)}"
    )


def format_moves(moves: Iterable[Move]) -> str:
    """Return moves as tokens, separated by spaces."""
    return " ".join(str(read_move(move)) for move in required_items(moves, "moves"))
