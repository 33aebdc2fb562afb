"""The moves that tables of perfect play leave to choose from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.game.position import Move, Position
from merels.engine.tablebase.probe import Known, Tables


class Choice(NamedTuple):
    """A move with what the tables make of it for the side that plays it.

    ``value`` (-1, 0, 1) is proven where it is ``certain``; otherwise a limit on plies or a
    repetition may come before the win or loss, which then is a draw. ``depth`` is the plies to the
    next removal or the end, where it is known.
    """

    move: Move
    value: int
    depth: int | None
    certain: bool


class Guidance(NamedTuple):
    """The moves of a position, those first that perfect play prefers; equal ones make a group.

    ``hits`` counts the moves looked up.
    """

    groups: tuple[tuple[Choice, ...], ...]
    hits: int


def guide(
    tables: Tables, position: Position, among: Sequence[Move], lines: int = 1
) -> Guidance | None:
    """What perfect play makes of some moves; None where the tables do not know them all.

    There are as many groups as it takes for so many ``lines`` of play.

    A win takes the shortest way to the next removal, a loss the longest, as far as depths are kept,
    and what is certain goes before a win that is not, and behind a loss that is not. Moves that all
    hold a draw differ in what they ask of the opponent: those go first that leave him the smallest
    share of replies that hold it too.
    """
    wanted = set(among)
    recurring = _recurring(position)
    choices: list[Choice] = []
    for move, known in tables.moves(position):
        if move in wanted:
            if known is None:
                return None
            choices.append(_choice(tables, position, move, known, recurring))
    if not choices:
        return None
    groups: list[tuple[Choice, ...]] = []
    for value in (1, 0, -1):
        # Draws are dear to rank: not before they are asked for.
        if sum(map(len, groups)) < lines:
            groups += _groups(tables, position, [c for c in choices if c.value == value])
    if groups[0][0].value < 0 and not all(choice.certain for choice in choices):
        # It is lost for certain only if all moves lose for certain.
        groups = [tuple(c._replace(certain=False) for c in group) for group in groups]
    while sum(map(len, groups[:-1])) >= lines:
        groups.pop()
    return Guidance(tuple(groups), len(choices))


def _recurring(position: Position) -> set[int]:
    """The positions, by key, that the game must not come to again: that would be a draw.

    Not the present one: whoever wins comes nearer to the end with every move, and never back to it.
    """
    most = position.rules.repetition - 1
    if most < 1:
        return set()
    counts = Counter(position.history)
    return {key for key, times in counts.items() if times >= most and key != position.key}


def _choice(
    tables: Tables, position: Position, move: Move, known: Known, recurring: set[int]
) -> Choice:
    """A move with its value, the game before the position counted.

    The tables know no repetition: where a side that loses can come to a position that recurs, the
    game is drawn, and where it may do so later, the value is not certain. Which of its moves leads
    there is the search's to find, so no depth parts them.
    """
    after = position.play(move)
    if after.outcome() is not None:
        return Choice(move, known.value, known.depth, True)
    certain = tables.bounds(after) == (-known.value, -known.value)
    if move.removed or not recurring or not known.value:
        return Choice(move, known.value, known.depth, certain)
    if known.value > 0 and any(
        reply.key in recurring and reply.outcome() is not None
        for reply in map(after.play, after.legal_moves())
    ):
        return Choice(move, 0, None, True)
    return Choice(move, known.value, known.depth if known.value > 0 else None, False)


def _groups(
    tables: Tables, position: Position, choices: Sequence[Choice]
) -> list[tuple[Choice, ...]]:
    """Moves of one value by rank, the best first."""
    deep = all(choice.depth is not None for choice in choices)
    groups: dict[tuple[float, ...], list[Choice]] = {}
    for choice in choices:
        groups.setdefault(_rank(tables, position, choice, deep), []).append(choice)
    return [tuple(groups[rank]) for rank in sorted(groups)]


def _rank(
    tables: Tables, position: Position, choice: Choice, deep: bool
) -> tuple[float, ...]:
    """The lower, the better among moves of one value; ``deep``: all have depths to go by."""
    if not choice.value:
        return (_holding_share(tables, position.play(choice.move)),)
    depth = choice.depth if deep and choice.depth is not None else 0
    return (not choice.certain, depth) if choice.value > 0 else (choice.certain, -depth)


def _holding_share(tables: Tables, position: Position) -> float:
    """The share of a side's moves that keep a drawn position drawn; 1 where it is not known."""
    if position.outcome() is not None:
        return 1.0
    values = [value.value if value else 0 for _, value in tables.moves(position)]
    return sum(value >= 0 for value in values) / len(values)
