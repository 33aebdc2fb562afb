"""What a ``position`` line sets up: a first position and the moves played from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, parse_position, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_RULES, Rules


class Setup(NamedTuple):
    """A position with the text it came from, so that it can be read again under other rules."""

    start: str = START
    tokens: tuple[str, ...] = ()
    position: Position = Position()

    def under(self, rules: Rules) -> Setup:
        """The same text read under other rules."""
        return replay(self.start, self.tokens, rules)


def replay(
    start: str,
    tokens: tuple[str, ...],
    rules: Rules = DEFAULT_RULES,
    known: Setup | None = None,
) -> Setup:
    """A position's text and moves played from it, every one of them checked.

    An error in the moves names the token and its index among them, counted from 0. A client
    repeats the whole game with each move; where it goes on from ``known``, only what is new is
    played.
    """
    done = 0
    position = None
    if known is not None and known.start == start and known.position.rules == rules:
        count = len(known.tokens)
        # A removal written on its own may belong to the last move that is known.
        split = tokens[count : count + 1] and tokens[count][0] in "xX"
        if tokens[:count] == known.tokens and not split:
            done, position = count, known.position
    if position is None:
        position = parse_position(start, rules)
    try:
        position = play_moves(position, tokens[done:])
    except InputError as error:
        raise error.at(done + (error.index or 0)) from None
    return Setup(start, tokens, position)


def read_setup(words: Sequence[str], rules: Rules, known: Setup | None = None) -> Setup:
    """The words behind ``position``: ``startpos | fen F…`` and, if any, ``moves T…``."""
    if not words:
        raise InputError("position", "expected startpos or fen behind it")
    lowered = [word.lower() for word in words]
    end = lowered.index("moves") if "moves" in lowered else len(words)
    if lowered[0] == "startpos":
        if end > 1:
            raise InputError(words[1], "expected moves or nothing behind startpos")
        start = START
    elif lowered[0] == "fen":
        start = " ".join(words[1:end])
    else:
        raise InputError(words[0], "expected startpos or fen")
    return replay(start, tuple(words[end + 1 :]), rules, known)
