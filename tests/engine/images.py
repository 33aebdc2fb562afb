"""Images of positions under the symmetries of the board."""

from __future__ import annotations

from merels.engine.game.board import mask_of, points_of
from merels.engine.game.position import Position


def image_of(position: Position, symmetry: tuple[int, ...]) -> Position:
    """Return the image of a position under a symmetry of the board."""
    white, black = (
        mask_of(symmetry[point] for point in points_of(men)) for men in position.men
    )
    return Position.of(position.rules, (white, black), position.hands, position.side)
