"""The static evaluation for people: the whole, and what each term adds."""

from __future__ import annotations

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.position import WHITE, Position


def evaluate(position: Position) -> int:
    """The static evaluation from the side to move's view, in hundredths of a man."""
    weights.ensure()
    return core.evaluate(core_rules(position.rules), core_board(position))


def explain(position: Position) -> list[tuple[str, int, int]]:
    """Each term of the evaluation with White's and Black's part, in hundredths of a man.

    Terms about both sides' men together count for the side to move.
    """
    weights.ensure()
    worth: dict[str, float] = {}
    for name, value in zip(
        (*core.ROW_NAMES, "together"),
        core.terms(core_rules(position.rules), core_board(position)),
    ):
        worth[name] = worth.get(name, 0) + value
    parts = []
    for name in [name for name in worth if not name.startswith("opponent's ")]:
        own, other = round(worth[name]), 0
        if name.startswith("own "):
            other = -round(worth[name.replace("own ", "opponent's ", 1)])
        both = (own, other) if position.side == WHITE else (other, own)
        parts.append((name.removeprefix("own "), *both))
    return parts
