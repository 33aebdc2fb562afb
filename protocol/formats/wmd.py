"""Lists of moves as the WMD, the world association of mill players, writes them: without tags.

Each line has a move of White and the reply. Moves are spelled as in merels: ``d6``, ``d6-d5``,
``d6-d5xc3``. `parse_record` reads such a list.
"""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, format_position
from merels.protocol.games.record import Record


def format_wmd(record: Record) -> str:
    """Return a game as numbered lines with a move of each side, and its result.

    `InputError` if the game does not begin at the starting position.
    """
    first = format_position(record.start)
    if first != START:
        raise InputError(first, "a list of moves begins at the starting position")
    moves = list(map(str, record.moves))
    pairs = [" ".join(moves[ply : ply + 2]) for ply in range(0, len(moves), 2)]
    lines = [f"{number}. {pair}" for number, pair in enumerate(pairs, 1)]
    return "\n".join([*lines, record.result]) + "\n"
