"""Parsing of ``position`` lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.mfen import read_position


class Setup(NamedTuple):
    """A position; ``start`` is the text of the first position, ``tokens`` the moves from it."""

    start: str = START
    tokens: tuple[str, ...] = ()
    position: Position = Position()

    def under(self, rules: Rules) -> Setup:
        """Return the setup of the same texts under other rules; `InputError` if it is illegal."""
        return replay(self.start, self.tokens, rules)


def replay(
    start: str,
    tokens: tuple[str, ...],
    rules: Rules = DEFAULT_RULES,
    earlier: Setup | None = None,
) -> Setup:
    """Return the setup of a first position and the moves played from it.

    `InputError` for an illegal move names the token and its index among ``tokens``, from 0. If the
    game continues the game of ``earlier``, only the new moves are checked and played.
    """
    done = 0
    position = None
    if earlier is not None and earlier.start == start and earlier.position.rules == rules:
        count = len(earlier.tokens)
        # A removal in a separate token belongs to the last move of ``earlier``.
        continues_move = tokens[count : count + 1] and tokens[count][0] in "xX"
        if tokens[:count] == earlier.tokens and not continues_move:
            done, position = count, earlier.position
    if position is None:
        position = read_position(start, rules)
    try:
        position = play_moves(position, tokens[done:])
    except InputError as error:
        raise error.at(done + (error.index or 0)) from None
    return Setup(start, tokens, position)


def read_setup(words: Sequence[str], rules: Rules, earlier: Setup | None = None) -> Setup:
    """Return the setup of the words after ``position``: ``startpos | fen F… [moves M…]``.

    `InputError` names an invalid word. See `replay` for ``earlier``.
    """
    if not words:
        raise InputError("position", "expected startpos or fen after it")
    lowered = [word.lower() for word in words]
    end = lowered.index("moves") if "moves" in lowered else len(words)
    if lowered[0] == "startpos":
        if end > 1:
            raise InputError(words[1], "expected moves or nothing after startpos")
        start = START
    elif lowered[0] == "fen":
        start = " ".join(words[1:end])
    else:
        raise InputError(words[0], "expected startpos or fen")
    return replay(start, tuple(words[end + 1 :]), rules, earlier)
