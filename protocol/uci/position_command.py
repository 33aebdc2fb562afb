"""The position that a ``position`` line sets up, with the moves played from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.mif_1_0.mfen import read_position


class Setup(NamedTuple):
    """A position and the words it was set up with, to be read again under other rules.

    ``start`` is the text of the first position, ``tokens`` are the moves played from it.
    """

    start: str = START
    tokens: tuple[str, ...] = ()
    position: Position = Position()

    def under(self, rules: Rules) -> Setup:
        """The same words read under other rules; `InputError` if they do not allow them."""
        return replay(self.start, self.tokens, rules)


def replay(
    start: str,
    tokens: tuple[str, ...],
    rules: Rules = DEFAULT_RULES,
    known: Setup | None = None,
) -> Setup:
    """Set up a position from its text and play moves from it, checking each.

    The `InputError` for a move names the token and its index among them, from 0. A client repeats
    the whole game with every move: if it continues ``known``, only the new moves are played.
    """
    done = 0
    position = None
    if known is not None and known.start == start and known.position.rules == rules:
        count = len(known.tokens)
        # A removal without a move belongs to the last known move.
        split = tokens[count : count + 1] and tokens[count][0] in "xX"
        if tokens[:count] == known.tokens and not split:
            done, position = count, known.position
    if position is None:
        position = read_position(start, rules)
    try:
        position = play_moves(position, tokens[done:])
    except InputError as error:
        raise error.at(done + (error.index or 0)) from None
    return Setup(start, tokens, position)


def read_setup(words: Sequence[str], rules: Rules, known: Setup | None = None) -> Setup:
    """Set up what the words after ``position`` say: ``startpos | fen F… [moves M…]``."""
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
    return replay(start, tuple(words[end + 1 :]), rules, known)
