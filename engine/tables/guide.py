"""The turns that tables of perfect play leave to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from merels.engine.position import Position, Turn
from merels.engine.tables.probe import Known, Tables


class Guidance(NamedTuple):
    """What the tables make of a position, and the turns worth playing.

    ``value`` (-1, 0, 1) is proven where it is ``certain``; otherwise a limit on plies may come
    before the win or loss. ``depth`` is the plies to the next removal or the end, where it is
    known. ``hits`` counts the turns looked up.
    """

    value: int
    depth: int | None
    turns: tuple[Turn, ...]
    hits: int
    certain: bool


def guide(tables: Tables, position: Position, among: Sequence[Turn]) -> Guidance | None:
    """What perfect play chooses among some turns; None where the tables do not know them all.

    A win takes the shortest way to the next removal, a loss the longest, as far as depths are kept.
    Turns that all hold a draw differ in what they ask of the opponent: those stay that leave him
    the smallest share of replies that hold it too.
    """
    known: dict[Turn, Known] = {}
    wanted = set(among)
    for turn, value in tables.turns(position):
        if turn in wanted:
            if value is None:
                return None
            known[turn] = value
    if not known:
        return None
    hits = len(known)
    best = max(value.value for value in known.values())
    certain = tables.bounds(position) in (None, (best, best))
    turns = [turn for turn, value in known.items() if value.value == best]
    if best == 0:
        shares = {turn: _holding_share(tables, position.play(turn)) for turn in turns}
        least = min(shares.values())
        turns = [turn for turn in turns if shares[turn] == least]
        return Guidance(0, None, tuple(turns), hits, certain)
    depths = [known[turn].depth for turn in turns]
    sure = [depth for depth in depths if depth is not None]
    if len(sure) < len(turns):
        return Guidance(best, None, tuple(turns), hits, certain)
    wanted_depth = min(sure) if best > 0 else max(sure)
    turns = [turn for turn, depth in zip(turns, depths) if depth == wanted_depth]
    return Guidance(best, wanted_depth, tuple(turns), hits, certain)


def _holding_share(tables: Tables, position: Position) -> float:
    """The share of a side's turns that keep a drawn position drawn; 1 where it is not known."""
    if position.outcome() is not None:
        return 1.0
    values = [value.value if value else 0 for _, value in tables.turns(position)]
    return sum(value >= 0 for value in values) / len(values)
