"""The static evaluation of a position, and the contribution of each of its terms."""

from __future__ import annotations

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.position import WHITE, Position, required_position


def evaluate(position: Position) -> int:
    """Return the static evaluation from the side to move's view, in hundredths of a man."""
    required_position(position)
    weights.ensure()
    return core.evaluate(core_rules(position.rules), core_board(position))


def explain(position: Position) -> list[tuple[str, int]]:
    """Return each term's name and contribution from White's view, in hundredths of a man."""
    weights.ensure()
    sign = 1 if position.side == WHITE else -1
    worth: dict[str, float] = {}
    for name, value in zip(
        (*core.ROW_NAMES, "hidden layer"),
        core.terms(core_rules(position.rules), core_board(position)),
    ):
        worth[name] = worth.get(name, 0) + sign * value
    return [(name, round(value)) for name, value in worth.items()]
